// Loads a warpgroup's left matrices into registers, where they stay.
#pragma once

#include "device/cuda/plugin/kernels/common/ptx.cuh"

namespace hone::device::cuda {

/// Loads left matrices of 64 x 16 each for multiply(), stored one after the other in the order of
/// left_place(). All 128 threads of the warpgroup call it. No kernel writes this memory while this one runs,
/// so it does not wait.
template <int kCount>
__device__ __forceinline__ void load_left(uint32_t (&to)[kCount][4], const void* from) {
  const auto* const mine = static_cast<const uint4*>(from) + threadIdx.x % 128;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const uint4 four = ptx::load_constant(mine + i * 128);
    to[i][0] = four.x;
    to[i][1] = four.y;
    to[i][2] = four.z;
    to[i][3] = four.w;
  }
}

}  // namespace hone::device::cuda
