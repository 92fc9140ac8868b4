// Activations on one float. NaN inputs give NaN. Formulas: reference/activations.hpp.
#pragma once

#include "device/cuda/plugin/kernels/common/epilogue.hpp"
#include "device/cuda/plugin/kernels/common/launch.cuh"

namespace hone::device::cuda {

__device__ __forceinline__ float clip(float x, float low, float high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}
/// Accurate to a few ulp. It avoids the exact division, a subroutine that costs registers. If the denominator
/// exceeds 2^126, the result is 0, which is the limit.
__device__ __forceinline__ float sigmoid(float x) { return __fdividef(1.0f, 1.0f + expf(-x)); }
__device__ __forceinline__ float softplus(float x) { return (x < 0.0f ? 0.0f : x) + log1pf(expf(-fabsf(x))); }
__device__ __forceinline__ float gelu_erf(float x) { return 0.5f * x * (1.0f + erff(x * 0.707106781f)); }
__device__ __forceinline__ float gelu_tanh(float x) {
  return 0.5f * x * (1.0f + tanhf(0.797884561f * (x + 0.044715f * x * x * x)));
}

/// The activations that convolutions rarely have.
__device__ __forceinline__ float rare_activation(graph::PostOp op, float x, float alpha) {
  switch (op) {
    case graph::PostOp::kTanh: return tanhf(x);
    case graph::PostOp::kElu: return x < 0.0f ? alpha * expm1f(x) : x;
    case graph::PostOp::kGeluErf: return gelu_erf(x);
    case graph::PostOp::kGeluTanh: return gelu_tanh(x);
    case graph::PostOp::kSoftplus: return softplus(x);
    case graph::PostOp::kMish: return x * tanhf(softplus(x));
    default: return x;
  }
}

}  // namespace hone::device::cuda
