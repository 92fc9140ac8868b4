// The epilogue's operations on eight adjacent channels in float32.
#pragma once

#include "device/cuda/plugin/kernels/common/activation.cuh"
#include "device/cuda/plugin/kernels/common/ptx.cuh"
#include "device/cuda/plugin/kernels/common/quick_gelu.cuh"
#include "device/cuda/plugin/kernels/gemm/gemm_epilogue.hpp"

namespace hone::device::cuda {

__device__ __forceinline__ float2 widen(__half2 pair) { return __half22float2(pair); }
__device__ __forceinline__ float2 widen(__nv_bfloat162 pair) { return __bfloat1622float2(pair); }
__device__ __forceinline__ float2 widen(float2 pair) { return pair; }
__device__ __forceinline__ void narrow(float2 pair, __half2& to) { to = __float22half2_rn(pair); }
__device__ __forceinline__ void narrow(float2 pair, __nv_bfloat162& to) { to = __float22bfloat162_rn(pair); }

__device__ __forceinline__ void narrow(float2 pair, float2& to) { to = pair; }

template <class T>
struct PairOf {
  using Type = float2;  // also for tf32, which is a float in memory
};
template <>
struct PairOf<__half> {
  using Type = __half2;
};
template <>
struct PairOf<__nv_bfloat16> {
  using Type = __nv_bfloat162;
};

/// The number of 16-byte words in eight elements.
template <class T>
inline constexpr int kRunWords = static_cast<int>(sizeof(T)) / 2;

/// Eight elements as stored in memory.
template <class T>
union Packed {
  uint4 words[kRunWords<T>];
  typename PairOf<T>::Type pairs[4];
};

template <class T>
__device__ __forceinline__ void unpack(const uint4* from, float (&values)[8]) {
  Packed<T> packed;
#pragma unroll
  for (int i = 0; i < kRunWords<T>; ++i) packed.words[i] = from[i];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 pair = widen(packed.pairs[i]);
    values[2 * i] = pair.x;
    values[2 * i + 1] = pair.y;
  }
}

template <class T>
__device__ __forceinline__ void pack(const float (&values)[8], uint4* to) {
  Packed<T> packed;
#pragma unroll
  for (int i = 0; i < 4; ++i) narrow(make_float2(values[2 * i], values[2 * i + 1]), packed.pairs[i]);
#pragma unroll
  for (int i = 0; i < kRunWords<T>; ++i) to[i] = packed.words[i];
}

/// Softplus with the fast exponential; softplus() is accurate to a few ulp.
__device__ __forceinline__ float quick_softplus(float v) {
  return (v < 0.0f ? 0.0f : v) + log1pf(__expf(-fabsf(v)));
}

/// Applies one unary step.
__device__ __forceinline__ float apply_unary(graph::PostOp op, float alpha, float beta, float v) {
  switch (op) {
    case graph::PostOp::kRelu: return v < 0.0f ? 0.0f : v;
    case graph::PostOp::kLeakyRelu: return v < 0.0f ? alpha * v : v;
    case graph::PostOp::kClip: return clip(v, alpha, beta);
    case graph::PostOp::kSigmoid: return quick_sigmoid(v);
    case graph::PostOp::kTanh: return tanhf(v);
    case graph::PostOp::kHardSwish: return v * clip(v * (1.0f / 6) + 0.5f, 0.0f, 1.0f);
    case graph::PostOp::kHardSigmoid: return clip(alpha * v + beta, 0.0f, 1.0f);
    case graph::PostOp::kSwish: return v * quick_sigmoid(alpha * v);
    case graph::PostOp::kElu: return v < 0.0f ? alpha * expm1f(v) : v;
    case graph::PostOp::kGeluErf: return gelu_erf(v);
    case graph::PostOp::kGeluTanh: return gelu_tanh(v);
    case graph::PostOp::kSoftplus: return quick_softplus(v);
    case graph::PostOp::kMish: return v * tanhf(quick_softplus(v));
    default: return v;
  }
}

__device__ __forceinline__ void apply_binary(graph::PostOp op, const float (&operand)[8],
                                             float (&values)[8]) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (op == graph::PostOp::kAdd) values[i] += operand[i];
    if (op == graph::PostOp::kMul) values[i] *= operand[i];
    if (op == graph::PostOp::kSub) values[i] -= operand[i];
  }
}

/// Applies all steps of the list to the channels from `channel` of pixel `row`; `prefetched` holds the
/// elements of the operand that was fetched early.
template <class T>
__device__ __forceinline__ void apply_steps(const EpilogueParams& p, int row, int channel,
                                            const uint4* prefetched, float (&values)[8]) {
#pragma unroll 1
  for (int s = 0; s < p.step_count; ++s) {
    const EpilogueStep& step = p.steps[s];
    if (sizeof(T) == 2 && step.op == graph::PostOp::kGeluErf) {
      // Applies the step to all values at once, so that the special functions of one value overlap with the
      // arithmetic of others.
#pragma unroll
      for (float& value : values) value = quick_gelu_erf(value);
      continue;
    }
    if (sizeof(T) == 2 && step.op == graph::PostOp::kGeluTanh) {
#pragma unroll
      for (float& value : values) value = quick_gelu_tanh(value);
      continue;
    }
    if (step.operand == nullptr) {
      // Only one copy of the formulas is compiled: the loop
      // stays, and the values rotate through the first place.
#pragma unroll 1
      for (int i = 0; i < 8; ++i) {
        const float result = apply_unary(step.op, step.alpha, step.beta, values[0]);
#pragma unroll
        for (int j = 0; j < 7; ++j) values[j] = values[j + 1];
        values[7] = result;
      }
      continue;
    }
    const uint4* bits = prefetched;
    if (s != p.prefetched_step) {
      size_t offset = channel;
      if (step.shape == OperandShape::kFull) offset += static_cast<size_t>(row) * p.filters;
      if (step.shape == OperandShape::kPerImageChannel)
        offset += static_cast<size_t>(p.pixels.divide(row)) * p.filters;
      bits = reinterpret_cast<const uint4*>(static_cast<const T*>(step.operand) + offset);
    }
    float operand[8];
    unpack<T>(bits, operand);
    apply_binary(step.op, operand, values);
  }
}

}  // namespace hone::device::cuda
