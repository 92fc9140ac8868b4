// The handles of cuDNN on one GPU.
#pragma once

#include <cuda.h>
#include <cudnn.h>

#include <cstddef>
#include <mutex>
#include <vector>

#include "device/cuda/plugin/device_guard.hpp"

namespace hone::device::cuda {

/// A handle serves one thread at a time, so a thread takes one out and returns it. The number of handles
/// grows to the largest number in use at the same time.
class CudnnHandles {
 public:
  explicit CudnnHandles(CUcontext context) : context_(context) {}
  /// Must be destroyed after everything that was made with a handle.
  ~CudnnHandles();
  CudnnHandles(const CudnnHandles&) = delete;
  CudnnHandles& operator=(const CudnnHandles&) = delete;

  /// Holds a handle during its lifetime, with its GPU current.
  class Lease {
   public:
    /// Environment error if no handle can be made.
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
