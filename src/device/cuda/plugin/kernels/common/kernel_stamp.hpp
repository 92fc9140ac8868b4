// Kernels that record when they ran, for measurements that must not disturb them as a profiler does.
#pragma once

#include <cstdint>

namespace hone::device::cuda {

/// When a launch ran, in nanoseconds of the GPU's global timer. `end` only grows, so that a stamp can be
/// reused without being cleared.
struct alignas(16) KernelStamp {
  uint64_t begin;  ///< the first block's first instruction; the previous kernel may still run
  uint64_t end;    ///< the last block's last instruction
};

/// The memory in which launches leave their stamps.
class StampSource {
 public:
  virtual ~StampSource() = default;
  /// Returns the device memory for the next launch's stamp; null if that launch gets none.
  virtual KernelStamp* next() = 0;
};

}  // namespace hone::device::cuda
