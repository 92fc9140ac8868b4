// GELUs of epilogues whose results have two bytes. They use special functions instead of erff() and tanhf(),
// which take some 30 instructions.
#pragma once

#include "device/cuda/plugin/kernels/common/quick_sigmoid.cuh"

namespace hone::device::cuda {

/// x * Phi(x). Phi(-|x|) is erfc(|x| / sqrt(2)) / 2, computed by formula 7.1.26 of Abramowitz and Stegun,
/// Handbook of Mathematical Functions. Its error is below 1e-7, as is the rounding error of 1 + erf(x /
/// sqrt(2)).
__device__ __forceinline__ float quick_gelu_erf(float x) {
  const float z = fabsf(x) * 0.707106781f;
  const float t = ptx::reciprocal(fmaf(0.3275911f, z, 1.0f));
  float series = fmaf(0.5307027145f, t, -0.7265760135f);
  series = fmaf(series, t, 0.7107068705f);
  series = fmaf(series, t, -0.142248368f);
  series = fmaf(series, t, 0.127414796f);
  constexpr float kLog2E = 1.44269504f;
  const float tail = series * t * ptx::power_of_two(-kLog2E * z * z);
  return x * (x < 0.0f ? tail : 1.0f - tail);
}

/// Computes 0.5 (1 + tanh(u)) as the sigmoid of 2 u.
__device__ __forceinline__ float quick_gelu_tanh(float x) {
  return x * quick_sigmoid(1.595769122f * fmaf(0.044715f * x * x, x, x));
}

}  // namespace hone::device::cuda
