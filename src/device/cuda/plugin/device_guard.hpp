// The GPU for the CUDA calls of the current thread.
#pragma once

#include <cuda.h>

namespace hone::device::cuda {

/// Makes a GPU's context current during its lifetime, and restores the previous one afterwards. It pushes and
/// pops contexts, because returning to a GPU with cudaSetDevice() would create a context on it.
class DeviceGuard {
 public:
  /// Does nothing for a null context, which represents a missing GPU.
  explicit DeviceGuard(CUcontext context);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  /// Null if nothing was pushed.
  CUcontext context_;
};

/// The current context; null if there is none.
CUcontext current_context();

}  // namespace hone::device::cuda
