// The arena: where each buffer of a program lies, so that buffers alive at different times share bytes.
#pragma once

#include <cstdint>
#include <vector>

namespace hone::engine {

/// A buffer needed from step `first` to step `last`, both included.
struct BufferLife {
  int64_t bytes = 0;
  int32_t first = 0;
  int32_t last = 0;
};

struct MemoryPlan {
  /// Offset of each buffer, a multiple of 64.
  std::vector<int64_t> offsets;
  /// Bytes of the arena.
  int64_t peak_bytes = 0;
  /// The bytes that it would take without sharing.
  int64_t naive_bytes = 0;
  /// Largest sum of buffers alive at one step: no plan can be smaller.
  int64_t lower_bound_bytes = 0;
};

/// Greedy by size: the largest buffer first, each at the lowest offset free during its life (Pisarchyk and
/// Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020, algorithm "greedy by size"). More
/// than 4096 buffers are placed in the order in which they are needed, each in the smallest gap, in n log n.
MemoryPlan plan_memory(const std::vector<BufferLife>& buffers);

}  // namespace hone::engine
