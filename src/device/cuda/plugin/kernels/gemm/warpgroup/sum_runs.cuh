// How a warp's sums of 16 channels and 16 pixels, left and right halves of a wgmma's columns, lie in the
// shared memory of the block that adds them up: in runs of 512 bytes, one store of a warp each, since it is
// stores that the way to other blocks counts, not bytes.
#pragma once

#include "device/cuda/plugin/kernels/common/wgmma.cuh"

namespace hone::device::cuda {

/// Eight channels of 16 pixels take two runs, one after the other; the next eight two more.
inline constexpr int kSumRunBytes = 512;

/// A lane's 16 bytes of run `run`, 0 or 1. Four lanes turn the second run, so that reading them meets no bank
/// twice.
__device__ __forceinline__ int sum_run_place(int run, int lane) { return (lane ^ 4 * run) * 16; }

/// Four neighbouring sums of a row. A thread has two neighbours of each eight columns (`first`, `second`);
/// one with an even number takes four of the first, others of the second.
__device__ __forceinline__ float4 four_neighbours(float2 first, float2 second, int lane) {
  const bool odd = lane % 2 != 0;
  const float x = ptx::from_neighbour(odd ? first.x : second.x);
  const float y = ptx::from_neighbour(odd ? first.y : second.y);
  return odd ? make_float4(x, y, second.x, second.y) : make_float4(first.x, first.y, x, y);
}

/// Where the sum of pixel `pixel` of 32, channel `channel` of eight, lies after the first of their runs.
__device__ __forceinline__ int sum_place(int pixel, int channel) {
  const int four = pixel / 4;
  const int run = four / 4;
  const int lane = channel * 4 + four % 2 * 2 + four % 4 / 2;
  return run * kSumRunBytes + sum_run_place(run, lane) + pixel % 4 * 4;
}

}  // namespace hone::device::cuda
