// See block.hpp.
#include "device/cuda/emulator/block.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "device/cuda/emulator/machine.hpp"
#include "device/cuda/emulator/products.hpp"

namespace hone::device::cuda::emulator {

std::string text(const char* format, ...) {
  char line[300];
  va_list values;
  va_start(values, format);
  std::vsnprintf(line, sizeof line, format, values);
  va_end(values);
  return line;
}

void OperationGroups::wait(size_t pending) {
  if (committed.size() <= pending) return;
  const auto end = committed.end() - static_cast<std::ptrdiff_t>(pending);
  const auto done = [](const OperationPointer& operation) { return operation->done(); };
  Machine::get().wait("its copies", [&] {
    return std::all_of(committed.begin(), end,
                       [&](const auto& group) { return std::all_of(group.begin(), group.end(), done); });
  });
  committed.erase(committed.begin(), end);
}

bool OperationGroups::all_done() const {
  const auto done = [](const std::vector<OperationPointer>& group) {
    return std::all_of(group.begin(), group.end(), [](const OperationPointer& each) { return each->done(); });
  };
  return done(open) && std::all_of(committed.begin(), committed.end(), done);
}

Block::Block(int rank, int number, int threads, size_t shared_bytes, std::byte* memory)
    : rank(rank),
      shared_bytes(shared_bytes),
      memory(memory),
      threads(threads),
      warps(threads / kWarpThreads),
      groups(threads / kGroupThreads, Warpgroup(*this)),
      number(number),
      writer_(kSharedBytes / 4, 0) {
  for (int i = 0; i < threads; ++i) {
    this->threads[i].block = this;
    this->threads[i].index = i;
  }
  std::memset(memory, 0xff, kSharedBytes);
}

Block::~Block() = default;

std::byte* Block::at(uint32_t address, size_t bytes, std::string_view what) const {
  if (address < kSharedBase || address - kSharedBase + bytes > shared_bytes)
    throw Fault(text("%s beyond the shared memory of %zu bytes: %zu bytes at %d", std::string(what).c_str(),
                     shared_bytes, bytes, static_cast<int>(address) - static_cast<int>(kSharedBase)));
  return memory + (address - kSharedBase);
}

Barrier& Block::barrier(uint32_t address) {
  const auto found = barriers.find(address);
  if (found == barriers.end())
    throw Fault(text("no barrier is at %u of block %d", address - kSharedBase, rank));
  return found->second;
}

void Block::advance(Barrier& barrier, uint32_t address) {
  if (barrier.missing != 0 || barrier.bytes != 0) return;
  if (barrier.bytes < 0)
    throw Fault(text("more bytes than the barrier at %u expects", address - kSharedBase));
  ++barrier.phase;
  barrier.missing = barrier.expected;
}

void Block::arrive(uint32_t address, uint32_t arrivals) {
  Barrier& at = barrier(address);
  if (at.missing < arrivals) throw Fault(text("too many arrive at the barrier at %u", address - kSharedBase));
  at.missing -= arrivals;
  advance(at, address);
}

void Block::expect(uint32_t address, int64_t bytes) { barrier(address).bytes += bytes; }

void Block::complete(uint32_t address, int64_t bytes) {
  Barrier& at = barrier(address);
  if (!at.visible) throw Fault(text("the barrier at %u is used ahead of its fence", address - kSharedBase));
  at.bytes -= bytes;
  advance(at, address);
}

void Block::expect_fenced(uint32_t address, size_t bytes, std::string_view what) const {
  if (unfenced_ == 0) return;
  for (size_t word = (address - kSharedBase) / 4; word * 4 < address - kSharedBase + bytes; ++word) {
    if (writer_[word] != 0)
      throw Fault(text("%s at %zu what thread %d has written without a fence", std::string(what).c_str(),
                       word * 4, writer_[word] - 1));
  }
}

void Block::wrote(uint32_t address, size_t bytes, Thread& thread) {
  for (uint32_t word = (address - kSharedBase) / 4; word * 4 < address - kSharedBase + bytes; ++word) {
    if (writer_[word] == 0) ++unfenced_;
    writer_[word] = static_cast<uint16_t>(thread.index + 1);
    thread.unfenced.push_back(word);
  }
}

void Block::fence(Thread& thread) {
  for (const uint32_t word : thread.unfenced) {
    if (writer_[word] != thread.index + 1) continue;
    writer_[word] = 0;
    --unfenced_;
  }
  thread.unfenced.clear();
}

void Block::fence_barriers() {
  for (auto& [address, barrier] : barriers) barrier.visible = true;
}

bool Block::ended() const {
  return std::all_of(threads.begin(), threads.end(), [](const Thread& thread) { return thread.ended; });
}

}  // namespace hone::device::cuda::emulator
