// Kernels that say themselves when they ran, for whoever must not disturb them as a profiler does.
#pragma once

#include <cstdint>

namespace hone::device::cuda {

/// When a launch ran, nanoseconds of the GPU's global timer. `end` only grows, so that a place can be used
/// again and again without being cleared.
struct alignas(16) KernelStamp {
  uint64_t begin;  ///< the first block's first instruction, which may be before the kernel ahead has ended
  uint64_t end;    ///< the last block's last instruction
};

/// The memory in which launches leave their stamps.
class StampSource {
 public:
  virtual ~StampSource() = default;
  /// A place in device memory for the launch that follows; null leaves it without.
  virtual KernelStamp* next() = 0;
};

}  // namespace hone::device::cuda
