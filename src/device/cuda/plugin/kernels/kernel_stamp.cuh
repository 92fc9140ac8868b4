// How a kernel stamps itself.
#pragma once

#include "device/cuda/plugin/kernels/kernel_stamp.hpp"

namespace hone::device::cuda {

/// Nanoseconds; on an H200 it goes in steps of 32.
__device__ __forceinline__ uint64_t global_time() {
  uint64_t time;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
}

/// A kernel's first object: stamps when it is made and when the thread that ends its block's work leaves the
/// kernel. Costs two branches where nobody asks.
class RunningKernel {
 public:
  /// `last`: the thread of each block that stamps its end.
  __device__ __forceinline__ explicit RunningKernel(KernelStamp* stamp, unsigned last = 0)
      : stamp_(stamp), last_(last) {
    if (stamp_ != nullptr && threadIdx.x == 0 && threadIdx.y == 0 && blockIdx.x == 0 && blockIdx.y == 0 &&
        blockIdx.z == 0)
      stamp_->begin = global_time();
  }
  __device__ __forceinline__ ~RunningKernel() {
    if (stamp_ != nullptr && threadIdx.x == last_ && threadIdx.y == 0)
      atomicMax(reinterpret_cast<unsigned long long*>(&stamp_->end), global_time());
  }
  RunningKernel(const RunningKernel&) = delete;
  RunningKernel& operator=(const RunningKernel&) = delete;

 private:
  KernelStamp* stamp_;
  unsigned last_;
};

}  // namespace hone::device::cuda
