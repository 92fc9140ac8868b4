// The GPU that the calling thread's calls go to.
#pragma once

#include <cuda.h>

namespace hone::device::cuda {

/// Makes a GPU's context current while it lives, and after that what was current before. Contexts are pushed
/// and popped, because cudaSetDevice() would create one on the GPU to which it returns.
class DeviceGuard {
 public:
  /// Nothing is done for a null context, which stands for a GPU that is not there.
  explicit DeviceGuard(CUcontext context);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  /// Null where nothing was pushed.
  CUcontext context_;
};

/// The one that is current; null where none is.
CUcontext current_context();

}  // namespace hone::device::cuda
