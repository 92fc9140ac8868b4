// Records when a kernel starts and ends, from within the kernel.
#pragma once

#include "device/cuda/plugin/kernels/common/kernel_stamp.hpp"
#include "device/cuda/plugin/kernels/common/ptx.cuh"

namespace hone::device::cuda {

/// The first object of a kernel. It stamps the start of the kernel when it is constructed, and the end when
/// the last thread of a block leaves the kernel. It costs two branches if no stamps are wanted.
class RunningKernel {
 public:
  /// `last` is the thread of each block that stamps the end.
  __device__ __forceinline__ explicit RunningKernel(KernelStamp* stamp, unsigned last = 0)
      : stamp_(stamp), last_(last) {
    if (stamp_ != nullptr && threadIdx.x == 0 && threadIdx.y == 0 && blockIdx.x == 0 && blockIdx.y == 0 &&
        blockIdx.z == 0)
      stamp_->begin = ptx::global_time();
  }
  __device__ __forceinline__ ~RunningKernel() {
    if (is_last() && !left_) stamp_end(near_end_ == 0 ? ptx::global_time() : near_end());
  }
  /// Counts clock ticks from here, some microseconds before the end: reading the global timer takes too long.
  __device__ __forceinline__ void finishing() {
    if (!is_last()) return;
    near_end_ = ptx::global_time();
    ticks_ = ptx::clock_ticks();
  }
  /// Stamps the end before the last results are stored; needs finishing() first. A kernel ends when its
  /// writes have arrived, so a stamp written last would delay the end.
  __device__ __forceinline__ void leave() {
    if (!is_last()) return;
    stamp_end(near_end());
    left_ = true;
  }
  RunningKernel(const RunningKernel&) = delete;
  RunningKernel& operator=(const RunningKernel&) = delete;

 private:
  __device__ __forceinline__ bool is_last() const {
    return stamp_ != nullptr && threadIdx.x == last_ && threadIdx.y == 0;
  }
  /// Counts half a nanosecond for a tick, which corresponds to 2 GHz.
  __device__ __forceinline__ uint64_t near_end() const {
    return near_end_ + ((ptx::clock_ticks() - ticks_) >> 1);
  }
  __device__ __forceinline__ void stamp_end(uint64_t time) const {
    atomicMax(reinterpret_cast<unsigned long long*>(&stamp_->end), time);
  }

  KernelStamp* stamp_;
  unsigned last_;
  uint64_t near_end_ = 0;
  uint32_t ticks_ = 0;
  bool left_ = false;
};

}  // namespace hone::device::cuda
