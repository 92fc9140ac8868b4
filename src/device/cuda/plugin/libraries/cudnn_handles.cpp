// See cudnn_handles.hpp.
#include "device/cuda/plugin/libraries/cudnn_handles.hpp"

#include "device/cuda/plugin/libraries/cudnn_errors.hpp"

namespace hone::device::cuda {

CudnnHandles::~CudnnHandles() {
  const DeviceGuard guard(context_);
  for (const cudnnHandle_t handle : free_) (void)cudnnDestroy(handle);
}

/// The GPU of these handles must be current.
cudnnHandle_t CudnnHandles::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      const cudnnHandle_t handle = free_.back();
      free_.pop_back();
      return handle;
    }
    free_.reserve(++made_);  // so that returning a handle cannot fail
  }
  cudnnHandle_t handle = nullptr;
  check_machine(cudnnCreate(&handle), "starting cuDNN");
  return handle;
}

CudnnHandles::Lease::Lease(CudnnHandles& handles)
    : handles_(handles), guard_(handles.context_), handle_(handles.take()) {}

CudnnHandles::Lease::~Lease() {
  const std::lock_guard lock(handles_.mutex_);
  handles_.free_.push_back(handle_);
}

}  // namespace hone::device::cuda
