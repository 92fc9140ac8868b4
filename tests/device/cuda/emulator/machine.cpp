// Threads that take turns on one of the CPU's. See machine.hpp.
#include "device/cuda/emulator/machine.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "device/cuda/emulator/device_functions.hpp"
#include "device/cuda/emulator/products.hpp"

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

namespace hone::device::cuda {

/// The shared memory of a kernel's block: that of the block which runs is mapped here.
alignas(4096) unsigned char memory[emulator::kSharedBytes];

namespace emulator {
namespace {

constexpr size_t kStackBytes = size_t{128} << 10;

}  // namespace

Machine& Machine::get() {
  static Machine machine;
  return machine;
}

Machine::Machine() {
  memory_file_ = memfd_create("shared memory of blocks", 0);
  const size_t bytes = kMostBlocks * kSharedBytes;
  void* memories = MAP_FAILED;
  if (memory_file_ >= 0 && ftruncate(memory_file_, static_cast<off_t>(bytes)) == 0)
    memories = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_file_, 0);
  if (memories == MAP_FAILED) throw std::runtime_error("no memory for the emulated blocks");
  memories_ = static_cast<std::byte*>(memories);
}

void Machine::set_schedule(const Schedule& schedule) {
  schedule_ = schedule;
  random_.seed(schedule.seed);
}

Block& Machine::block(int rank) {
  if (rank < 0 || rank >= blocks()) throw Fault(text("block %d of a cluster of %d", rank, blocks()));
  return *blocks_[rank];
}

void Machine::map(const Block& block) {
  if (mapped_ == &block) return;
  mapped_ = &block;
  const auto offset = static_cast<off_t>(block.rank * kSharedBytes);
  if (mmap(hone::device::cuda::memory, kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
           memory_file_, offset) == MAP_FAILED)
    throw std::runtime_error("a block's memory cannot be mapped");
}

void Machine::enter() {
  Machine& machine = get();
  try {
    (*machine.kernel_)();
    Thread& thread = machine.thread();
    if (!thread.copies.all_done() || !thread.stores.all_done())
      throw Fault("a thread ends with copies under way");
    const auto& groups = thread.block->groups;
    const size_t group = thread.index / kGroupThreads;
    if (group < groups.size() && !groups[group].all_done())
      throw Fault("a thread ends with products under way");
    thread.ended = true;
  } catch (const Fault& fault) {
    machine.fault_ = fault.what();
  }
  setcontext(&machine.scheduler_);
}

void Machine::switch_to(Thread& thread) {
  map(*thread.block);
  thread_ = &thread;
  threadIdx = {static_cast<unsigned>(thread.index), 0, 0};
  blockIdx = {static_cast<unsigned>(thread.block->number), 0, 0};
  swapcontext(&scheduler_, &thread.context);
  thread_ = nullptr;
  if (!fault_.empty())
    throw Fault(text("block %u, thread %d: %s", thread.block->number, thread.index, fault_.c_str()));
}

void Machine::wait(std::string_view what, const std::function<bool()>& until, uint64_t detail) {
  if (until()) return;
  Thread& thread = *thread_;
  thread.until = &until;
  thread.waits_for = what;
  thread.detail = detail;
  swapcontext(&thread.context, &scheduler_);
  thread.until = nullptr;
}

void Machine::together(std::string_view name, void* lane, const std::function<void(void* const*)>& work) {
  Thread& thread = *thread_;
  Collective& warp = thread.block->warps[thread.index / kWarpThreads];
  if (warp.arrived == 0) warp.name = name;
  if (warp.name != name)
    throw Fault(text("lanes of a warp are apart: at %s and at %s", std::string(warp.name).c_str(),
                     std::string(name).c_str()));
  warp.lanes[thread.lane()] = lane;
  if (++warp.arrived == kWarpThreads) {
    work(warp.lanes);
    warp.arrived = 0;
    ++warp.turn;
    return;
  }
  const uint64_t turn = warp.turn;
  wait(name, [&warp, turn] { return warp.turn != turn; });
}

void Machine::meet(int number, int count) {
  Block& block = *thread_->block;
  Block::Meeting& meeting = block.meetings[number];
  const uint64_t turn = meeting.turn;
  ++meeting.arrived;
  wait(
      "a barrier of the block",
      [&] {
        if (meeting.turn != turn) return true;
        const auto all = std::count_if(block.threads.begin(), block.threads.end(),
                                       [](const Thread& each) { return !each.ended; });
        if (meeting.arrived < (count == 0 ? all : count)) return false;
        meeting.arrived = 0;
        ++meeting.turn;
        return true;
      },
      number);
}

void Machine::arrive_cluster() {
  size_t threads = 0;
  for (const auto& block : blocks_) threads += block->threads.size();
  thread_->cluster_turn = cluster_.turn;
  thread_->at_cluster = true;
  if (static_cast<size_t>(++cluster_.arrived) < threads) return;
  cluster_.arrived = 0;
  ++cluster_.turn;
}

void Machine::wait_cluster() {
  wait("the cluster", [this, turn = thread_->cluster_turn] { return cluster_.turn != turn; });
  thread_->at_cluster = false;
}

OperationPointer Machine::start(std::function<void()> work, const std::function<void()>& poison) {
  auto operation = std::make_shared<Operation>(std::move(work));
  if (schedule_.copies != Pace::kAtOnce) poison();
  start_at(schedule_.copies, operation);
  return operation;
}

void Machine::start_at(Pace pace, const OperationPointer& operation) {
  if (pace == Pace::kAtOnce) {
    operation->run();
  } else {
    pending_.push_back(operation);
  }
}

bool Machine::busy(const void* memory, size_t bytes) const {
  const auto* const first = static_cast<const std::byte*>(memory);
  return std::any_of(busy_.begin(), busy_.end(), [&](const auto& range) {
    return first < range.first + range.second && range.first < first + bytes;
  });
}

void Machine::expect_not_busy(const void* memory, size_t bytes) const {
  if (!thread_->waited_ahead && busy(memory, bytes))
    throw Fault("a copy reads ahead of the wait for the kernel before");
}

void Machine::expect_free(const void* memory, size_t bytes) const {
  const auto& threads = thread_->block->threads;
  if (std::none_of(threads.begin(), threads.end(), [](const Thread& each) { return each.waited_ahead; }) &&
      busy(memory, bytes))
    throw Fault("a store writes ahead of the wait for the kernel before");
}

bool Machine::run_pending() {
  std::erase_if(pending_, [](const OperationPointer& operation) { return operation->done(); });
  if (pending_.empty()) return false;
  const size_t which = schedule_.seed == 0 ? 0 : random_() % pending_.size();
  const OperationPointer operation = pending_[which];
  operation->run();
  return true;
}

bool Machine::run_round(const std::function<bool(const Thread&)>& takes_part) {
  constexpr int kThreadsAnOperation = 8;
  if (schedule_.seed != 0) std::shuffle(order_.begin(), order_.end(), random_);
  bool moved = false;
  for (Thread* const thread : order_) {
    if (!takes_part(*thread) || thread->ended || (thread->until != nullptr && !(*thread->until)())) continue;
    switch_to(*thread);
    moved = true;
    if (schedule_.copies == Pace::kAnyTime && random_() % kThreadsAnOperation == 0) run_pending();
  }
  std::erase_if(order_, [](const Thread* thread) { return thread->ended; });
  return moved;
}

bool Machine::run_round() {
  if (schedule_.seed == 0 || blocks() == 1) return run_round([](const Thread&) { return true; });
  // One block of a cluster is slow: it goes on when no other can.
  const int slow = static_cast<int>(schedule_.seed % blocks_.size());
  const auto is_slow = [slow](const Thread& thread) { return thread.block->rank == slow; };
  return run_round([&](const Thread& thread) { return !is_slow(thread); }) || run_round(is_slow);
}

std::string Machine::stuck() const {
  std::map<std::string, int> waiting;
  for (const Thread* const thread : order_) {
    std::string what(thread->waits_for);
    if (thread->detail != 0) what += text(" at %u", static_cast<uint32_t>(thread->detail) - kSharedBase);
    ++waiting[text("of block %d for ", thread->block->number) + what];
  }
  std::string result = "all wait:";
  for (const auto& [what, threads] : waiting) result += text(" %d ", threads) + what + ";";
  return result;
}

void Machine::run_cluster(const std::function<void()>& kernel, int first_block, int blocks, int threads,
                          size_t shared_bytes) {
  kernel_ = &kernel;
  fault_.clear();
  pending_.clear();
  blocks_.clear();
  order_.clear();
  cluster_ = {};
  mapped_ = nullptr;
  for (int rank = 0; rank < blocks; ++rank) {
    blocks_.push_back(std::make_unique<Block>(rank, first_block + rank, threads, shared_bytes,
                                              memories_ + rank * kSharedBytes));
    for (Thread& thread : blocks_.back()->threads) {
      if (stacks_.size() == order_.size()) stacks_.push_back(std::make_unique<std::byte[]>(kStackBytes));
      getcontext(&thread.context);
      thread.context.uc_stack.ss_sp = stacks_[order_.size()].get();
      thread.context.uc_stack.ss_size = kStackBytes;
      makecontext(&thread.context, &Machine::enter, 0);
      order_.push_back(&thread);
    }
  }
  while (!order_.empty()) {
    if (run_round()) continue;
    if (!order_.empty() && !run_pending()) throw Fault(stuck());
  }
  while (run_pending()) {
  }
  for (const auto& block : blocks_) {
    const std::byte* const memory = block->memory;
    if (std::any_of(memory + shared_bytes, memory + kSharedBytes,
                    [](std::byte each) { return each != std::byte{0xff}; }))
      throw Fault(text("block %d writes beyond its shared memory", block->number));
  }
}

}  // namespace emulator
}  // namespace hone::device::cuda
