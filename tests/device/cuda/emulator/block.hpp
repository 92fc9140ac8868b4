// A block of threads: its shared memory, its barriers, what its threads have under way.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::device::cuda::emulator {

/// A kernel's fault; ends the launch.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr int kWarpThreads = 32;
inline constexpr int kGroupThreads = 128;
inline constexpr uint32_t kSharedBase = 1024;              ///< address of a block's first byte: none is at 0
inline constexpr size_t kSharedBytes = size_t{256} << 10;  ///< of a block, more than it can ask for
inline constexpr int kMostBlocks = 16;                     ///< of a cluster

/// Something that runs beside the threads. It does its work once, whoever comes first.
class Operation {
 public:
  explicit Operation(std::function<void()> work) : work_(std::move(work)) {}
  void run() {
    if (!work_) return;
    const auto work = std::move(work_);
    work_ = nullptr;
    work();
  }
  bool done() const { return !work_; }

 private:
  std::function<void()> work_;
};
using OperationPointer = std::shared_ptr<Operation>;

/// Groups of a thread's operations: those since the last commit, and those before.
struct OperationGroups {
  std::vector<OperationPointer> open;
  std::deque<std::vector<OperationPointer>> committed;

  void commit() {
    committed.push_back(std::move(open));
    open.clear();
  }
  /// The running thread waits for all but the newest `pending` groups.
  void wait(size_t pending);
  bool all_done() const;
};

/// mbarrier.
struct Barrier {
  uint32_t expected = 0;
  uint32_t missing = 0;  ///< arrivals
  int64_t bytes = 0;     ///< that are to come
  uint32_t phase = 0;
  bool visible = false;  ///< to copies and other blocks
};

class Block;
class Warpgroup;

struct Thread {
  Block* block = nullptr;
  int index = 0;  ///< in the block
  ucontext_t context{};
  bool ended = false;
  bool waited_ahead = false;  ///< for the kernel ahead
  const std::function<bool()>* until = nullptr;
  std::string_view waits_for;
  uint64_t detail = 0;  ///< of what it waits for
  OperationGroups copies;
  OperationGroups stores;
  std::vector<OperationPointer> remote_stores;  ///< others see them behind the cluster's next barrier
  std::vector<uint32_t> unfenced;  ///< words of shared memory that it wrote and the copy unit may not see yet
  size_t products = 0;             ///< and groups of them that it has come to
  bool sums_fenced = false;
  uint64_t cluster_turn = 0;  ///< in which it has arrived
  bool at_cluster = false;    ///< has arrived, and has not passed

  int lane() const { return index % kWarpThreads; }
};

/// An instruction that all lanes of a warp execute together. The last one does the work for all.
struct Collective {
  std::string_view name;
  int arrived = 0;
  uint64_t turn = 0;
  void* lanes[kWarpThreads] = {};
};

class Block {
 public:
  Block(int rank, int number, int threads, size_t shared_bytes, std::byte* memory);
  ~Block();

  /// Checked.
  std::byte* at(uint32_t address, size_t bytes, std::string_view what) const;
  Barrier& barrier(uint32_t address);
  void arrive(uint32_t address, uint32_t arrivals);
  void expect(uint32_t address, int64_t bytes);
  /// So many bytes have come.
  void complete(uint32_t address, int64_t bytes);
  /// The copy unit and wgmma see only what is fenced.
  void expect_fenced(uint32_t address, size_t bytes, std::string_view what) const;
  /// Thread `thread` has written there.
  void wrote(uint32_t address, size_t bytes, Thread& thread);
  /// Makes the thread's writes visible to all.
  void fence(Thread& thread);
  /// Its barriers are.
  void fence_barriers();
  bool ended() const;

  int rank;  ///< in the cluster
  size_t shared_bytes;
  std::byte* memory;
  std::vector<Thread> threads;
  std::vector<Collective> warps;
  std::vector<Warpgroup> groups;
  std::map<uint32_t, Barrier> barriers;
  struct Meeting {
    int arrived = 0;
    uint64_t turn = 0;
  } meetings[16];
  int number;  ///< in the grid

 private:
  void advance(Barrier& barrier, uint32_t address);

  std::vector<uint16_t> writer_;  ///< of each word: the thread that has not fenced it, counted from 1
  int unfenced_ = 0;              ///< words
};

/// A line of text as printf() writes it.
std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace hone::device::cuda::emulator
