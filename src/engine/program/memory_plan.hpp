// The memory plan of the arena: assigns an offset to each buffer of a program, so that buffers with disjoint
// lifetimes share memory.
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
  /// Size of the arena.
  int64_t peak_bytes = 0;
  /// Size without sharing.
  int64_t naive_bytes = 0;
  /// Largest sum of buffers that are alive in one step; no plan can be smaller.
  int64_t lower_bound_bytes = 0;
};

/// Greedy by size: places the largest buffer first, each at the lowest offset that is free during its
/// lifetime (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020, algorithm
/// "greedy by size"). More than 4096 buffers are placed in the order in which they are needed, each in the
/// smallest gap, in O(n log n).
MemoryPlan plan_memory(const std::vector<BufferLife>& buffers);

}  // namespace hone::engine
