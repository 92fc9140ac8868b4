// The sigmoid of GEMM epilogues, and of other kernels whose results have two bytes.
#pragma once

#include "device/cuda/plugin/kernels/common/ptx.cuh"

namespace hone::device::cuda {

/// 1 / (1 + exp(-x)) in four instructions; a division and an exponential for all floats take about 15. Its
/// relative error is about 2^-22 (1 + |x|); results below 2^-126 become 0.
__device__ __forceinline__ float quick_sigmoid(float x) {
  constexpr float kLog2E = 1.44269504f;
  return ptx::reciprocal(1.0f + ptx::power_of_two(-kLog2E * x));
}

/// The sigmoids of two values; results below 2^-63 become 0. Special functions have an eighth of the rate of
/// other instructions, so this uses three instead of four: one for 1 / (a b), which is multiplied by b and by
/// a to give 1 / a and 1 / b.
__device__ __forceinline__ float2 quick_sigmoid(float2 x) {
  constexpr float kLog2E = 1.44269504f;
  constexpr float kMost = 63;  // so that the product stays finite
  const float2 power = make_float2(-kLog2E * x.x, -kLog2E * x.y);
  // fminf() drops a NaN, so that it does not reach the other
  // channel. The caller multiplies by the NaN itself.
  const float a = 1.0f + ptx::power_of_two(fminf(power.x, kMost));
  const float b = 1.0f + ptx::power_of_two(fminf(power.y, kMost));
  const float both = ptx::reciprocal(a * b);
  return make_float2(power.x > kMost ? 0.0f : both * b, power.y > kMost ? 0.0f : both * a);
}

}  // namespace hone::device::cuda
