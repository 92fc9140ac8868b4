// The cluster that runs: its threads take turns, and what runs beside them takes effect in between.
#pragma once

#include <random>

#include "device/cuda/emulator/block.hpp"
#include "device/cuda/emulator/emulator.hpp"

namespace hone::device::cuda::emulator {

class Machine {
 public:
  static Machine& get();

  void run_cluster(const std::function<void()>& kernel, int first_block, int blocks, int threads,
                   size_t shared_bytes);

  Thread& thread() { return *thread_; }
  Block& block() { return *thread_->block; }
  Block& block(int rank);
  int blocks() const { return static_cast<int>(blocks_.size()); }

  /// Lets others go on until that is so.
  void wait(std::string_view what, const std::function<bool()>& until, uint64_t detail = 0);
  /// All lanes of the warp call it with what they have, each sees what the others have made of it.
  void together(std::string_view name, void* lane, const std::function<void(void* const*)>& work);
  /// All that are `count` threads meet at number `number`; 0: all threads that have not ended.
  void meet(int number, int count);
  void arrive_cluster();
  void wait_cluster();

  /// Starts what runs beside; where it does not work at once, `poison` first ruins what it will write.
  OperationPointer start(std::function<void()> work, const std::function<void()>& poison);
  void start_at(Pace pace, const OperationPointer& operation);

  const Schedule& schedule() const { return schedule_; }
  void set_schedule(const Schedule& schedule);
  void add_busy(const void* memory, size_t bytes) {
    busy_.push_back({static_cast<const std::byte*>(memory), bytes});
  }
  void forget_busy() { busy_.clear(); }
  /// Before a thread has memory read: it has waited for the kernel ahead itself.
  void expect_not_busy(const void* memory, size_t bytes) const;
  /// Before it has memory written: it may know from another thread of its block, whose copies came after the
  /// wait.
  void expect_free(const void* memory, size_t bytes) const;

 private:
  Machine();
  void switch_to(Thread& thread);
  /// Lets each thread go on once; false when none can.
  bool run_round();
  bool run_round(const std::function<bool(const Thread&)>& takes_part);
  bool run_pending();
  std::string stuck() const;
  bool busy(const void* memory, size_t bytes) const;
  void map(const Block& block);
  static void enter();

  Schedule schedule_;
  std::mt19937_64 random_;
  std::deque<OperationPointer> pending_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Thread*> order_;
  std::vector<std::unique_ptr<std::byte[]>> stacks_;
  std::vector<std::pair<const std::byte*, size_t>> busy_;
  const std::function<void()>* kernel_ = nullptr;
  Thread* thread_ = nullptr;
  const Block* mapped_ = nullptr;
  ucontext_t scheduler_{};
  std::string fault_;
  int memory_file_ = -1;
  std::byte* memories_ = nullptr;
  Block::Meeting cluster_;
};

}  // namespace hone::device::cuda::emulator
