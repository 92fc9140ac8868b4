// The layout of a warp's sums of 16 channels and 32 pixels in the shared memory of the block that adds them
// up. They lie in runs of 512 bytes, each written by one store of a warp, because the cost of sending sums to
// other blocks depends on the number of stores, not of bytes.
#pragma once

#include "device/cuda/plugin/kernels/common/wgmma.cuh"

namespace hone::device::cuda {

/// Eight channels of 32 pixels take two adjacent runs, one for each half of the pixels; the next eight
/// channels take two more.
inline constexpr int kSumRunBytes = 512;

/// The offset of a lane's 16 bytes in run `run`, 0 or 1. The second run swaps neighbouring groups of four
/// lanes, so that reads have no bank conflicts.
__device__ __forceinline__ int sum_run_place(int run, int lane) { return (lane ^ 4 * run) * 16; }

/// Four adjacent sums of a row. A thread has two adjacent sums in each of two groups of eight columns
/// (`first`, `second`). An even lane gets four sums of the first group, an odd lane four of the second.
__device__ __forceinline__ float4 four_neighbours(float2 first, float2 second, int lane) {
  const bool odd = lane % 2 != 0;
  const float x = ptx::from_neighbour(odd ? first.x : second.x);
  const float y = ptx::from_neighbour(odd ? first.y : second.y);
  return odd ? make_float4(x, y, second.x, second.y) : make_float4(first.x, first.y, x, y);
}

/// The offset of a sum from the start of its two runs, for one of 32 pixels and one of eight channels.
__device__ __forceinline__ int sum_place(int pixel, int channel) {
  const int four = pixel / 4;
  const int run = four / 4;
  const int lane = channel * 4 + four % 2 * 2 + four % 4 / 2;
  return run * kSumRunBytes + sum_run_place(run, lane) + pixel % 4 * 4;
}

}  // namespace hone::device::cuda
