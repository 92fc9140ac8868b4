// cuDNN's handles on one GPU.
#pragma once

#include <cuda.h>
#include <cudnn.h>

#include <cstddef>
#include <mutex>
#include <vector>

#include "device/cuda/plugin/device_guard.hpp"

namespace hone::device::cuda {

/// A handle serves one thread at a time, so who needs one takes it out and puts it back. There come to be no
/// more than were ever out at once.
class CudnnHandles {
 public:
  explicit CudnnHandles(CUcontext context) : context_(context) {}
  /// To be destroyed after everything that was made with one.
  ~CudnnHandles();
  CudnnHandles(const CudnnHandles&) = delete;
  CudnnHandles& operator=(const CudnnHandles&) = delete;

  /// A handle that is out as long as this lives, with its GPU current.
  class Lease {
   public:
    /// Environment error where none can be made.
    explicit Lease(CudnnHandles& handles);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    cudnnHandle_t get() const { return handle_; }

   private:
    CudnnHandles& handles_;
    DeviceGuard guard_;
    cudnnHandle_t handle_;
  };

 private:
  cudnnHandle_t take();

  CUcontext context_;
  std::mutex mutex_;
  std::vector<cudnnHandle_t> free_;
  size_t made_ = 0;
};

}  // namespace hone::device::cuda
