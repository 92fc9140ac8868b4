// Reductions over the threads of a warp and of a block.
#pragma once

#include "device/cuda/plugin/kernels/common/launch.cuh"

namespace hone::device::cuda {

template <class T, class Combine>
__device__ __forceinline__ T reduce_warp(T value, const Combine& combine) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) value = combine(value, __shfl_xor_sync(~0u, value, mask));
  return value;
}

/// Returns the result in every thread of the one-dimensional block, which consists of whole warps. `scratch`
/// holds one value for each warp.
template <class T, class Combine>
__device__ __forceinline__ T reduce_block(T value, T* scratch, const Combine& combine) {
  const unsigned warp = threadIdx.x / 32;
  const unsigned warps = blockDim.x / 32;
  value = reduce_warp(value, combine);
  if (warps == 1) return value;
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch[warp] = value;
  __syncthreads();
  value = scratch[0];
  for (unsigned i = 1; i < warps; ++i) value = combine(value, scratch[i]);
  return value;
}

struct Plus {
  __device__ __forceinline__ float operator()(float a, float b) const { return a + b; }
};

/// Returns NaN if either value is NaN.
struct Maximum {
  __device__ __forceinline__ float operator()(float a, float b) const { return b > a || b != b ? b : a; }
};

}  // namespace hone::device::cuda
