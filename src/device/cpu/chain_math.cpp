// See chain_math.hpp. Loops are plain; the compiler vectorises them once per instruction set.
#include "device/cpu/chain_math.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

#include "device/cpu/clones.hpp"
#include "device/cpu/instructions.hpp"
#include "device/cpu/vector_math.hpp"
#include "device/cpu/wide_math.hpp"

namespace hone::device::cpu {
namespace {

using UnaryRun = void (*)(const float* from, float* to, size_t n, float alpha, float beta);
struct Binary {
  void (*run)(const float* from, const float* other, float* to, size_t n);
  void (*run_scalar)(const float* from, float other, float* to, size_t n);
};

// One function per operation, because a clone is chosen per function and the switch must stay outside the
// loop. `to` may be one of the operands.
#define HONE_UNARY(name, expression)                                                          \
  HONE_CLONES void name(const float* from, float* to, size_t n, [[maybe_unused]] float alpha, \
                        [[maybe_unused]] float beta) {                                        \
    _Pragma("omp simd") for (size_t i = 0; i < n; ++i) {                                      \
      const float v = from[i];                                                                \
      to[i] = expression;                                                                     \
    }                                                                                         \
  }
#define HONE_BINARY(name, expression)                                                         \
  HONE_CLONES void name##_array(const float* from, const float* other, float* to, size_t n) { \
    _Pragma("omp simd") for (size_t i = 0; i < n; ++i) {                                      \
      const float v = from[i];                                                                \
      const float w = other[i];                                                               \
      to[i] = expression;                                                                     \
    }                                                                                         \
  }                                                                                           \
  HONE_CLONES void name##_scalar(const float* from, float w, float* to, size_t n) {           \
    _Pragma("omp simd") for (size_t i = 0; i < n; ++i) {                                      \
      const float v = from[i];                                                                \
      to[i] = expression;                                                                     \
    }                                                                                         \
  }                                                                                           \
  constexpr Binary name = {name##_array, name##_scalar};

// Comparisons are written so that a NaN in v stays one.
HONE_UNARY(run_relu, v < 0.0f ? 0.0f : v)
HONE_UNARY(run_leaky_relu, v < 0.0f ? alpha * v : v)
HONE_UNARY(run_clip, v < alpha ? alpha : (v > beta ? beta : v))
HONE_UNARY(run_sigmoid, vector_sigmoid(v))
HONE_UNARY(run_tanh, vector_tanh(v))
HONE_UNARY(run_hard_swish, v*(v + 3.0f < 0.0f ? 0.0f : (v + 3.0f > 6.0f ? 6.0f : v + 3.0f)) * (1.0f / 6))
HONE_UNARY(run_hard_sigmoid,
           (alpha * v + beta < 0.0f ? 0.0f : (alpha * v + beta > 1.0f ? 1.0f : alpha * v + beta)))
HONE_UNARY(run_swish, v* vector_sigmoid(alpha* v))
HONE_UNARY(run_elu, v < 0.0f ? alpha * expm1_of_negative(v) : v)
HONE_UNARY(run_selu, v < 0.0f ? beta * (alpha * expm1_of_negative(v)) : beta * v)
HONE_UNARY(run_celu, v < 0.0f ? alpha * expm1_of_negative(v / alpha) : v)
HONE_UNARY(run_gelu_erf, gelu_erf(v))
HONE_UNARY(run_gelu_tanh, v* vector_sigmoid(1.59576912f * (v + 0.044715f * v * v * v)))
HONE_UNARY(run_softplus, softplus(v))
HONE_UNARY(run_mish, mish(v))
HONE_UNARY(run_softsign, v / (1.0f + __builtin_fabsf(v)))
HONE_UNARY(run_thresholded_relu, v > alpha ? v : 0.0f)
HONE_UNARY(run_shrink, v < -alpha ? v + beta : (v > alpha ? v - beta : 0.0f))
HONE_UNARY(run_neg, -v)
HONE_UNARY(run_abs, __builtin_fabsf(v))
HONE_UNARY(run_sign, v > 0.0f ? 1.0f : (v < 0.0f ? -1.0f : (v == 0.0f ? 0.0f : v)))
HONE_UNARY(run_exp, vector_exp(v))
HONE_UNARY(run_log, vector_log(v))
HONE_UNARY(run_sqrt, __builtin_sqrtf(v))
HONE_UNARY(run_erf, vector_erf(v))
HONE_UNARY(run_reciprocal, 1.0f / v)
HONE_UNARY(run_floor, __builtin_floorf(v))
HONE_UNARY(run_ceil, __builtin_ceilf(v))
HONE_UNARY(run_round, __builtin_rintf(v))
// These have no vectorised form here: they are called element by element.
HONE_UNARY(run_sin, std::sin(v))
HONE_UNARY(run_cos, std::cos(v))
HONE_UNARY(run_tan, std::tan(v))
HONE_UNARY(run_asin, std::asin(v))
HONE_UNARY(run_acos, std::acos(v))
HONE_UNARY(run_atan, std::atan(v))
HONE_UNARY(run_sinh, std::sinh(v))
HONE_UNARY(run_cosh, std::cosh(v))
HONE_UNARY(run_asinh, std::asinh(v))
HONE_UNARY(run_acosh, std::acosh(v))
HONE_UNARY(run_atanh, std::atanh(v))
HONE_BINARY(run_add, v + w)
HONE_BINARY(run_mul, v* w)
HONE_BINARY(run_sub, v - w)
HONE_BINARY(run_reverse_sub, w - v)
HONE_BINARY(run_div, v / w)
HONE_BINARY(run_reverse_div, w / v)
HONE_BINARY(run_max, v < w || w != w ? w : v)
HONE_BINARY(run_min, v > w || w != w ? w : v)
HONE_BINARY(run_at_least, v < w ? w : v)
HONE_BINARY(run_at_most, v > w ? w : v)
HONE_BINARY(run_pow, std::pow(v, w))
HONE_BINARY(run_reverse_pow, std::pow(w, v))
HONE_BINARY(run_prelu, v < 0.0f ? v * w : v)

// The version for AVX-512 holds the functions that its own instructions make faster.
#define HONE_WIDE_UNARY(name, expression)                                                             \
  __attribute__((target("avx512f,avx512dq"))) void name(                                              \
      const float* from, float* to, size_t n, [[maybe_unused]] float alpha, [[maybe_unused]] float) { \
    for (size_t i = 0; i < n; i += 16) {                                                              \
      const auto mask = static_cast<__mmask16>(n - i >= 16 ? 0xFFFFU : (1U << (n - i)) - 1);          \
      const __m512 v = _mm512_maskz_loadu_ps(mask, from + i);                                         \
      _mm512_mask_storeu_ps(to + i, mask, expression);                                                \
    }                                                                                                 \
  }

HONE_WIDE_UNARY(run_wide_sigmoid, wide_sigmoid(v))
HONE_WIDE_UNARY(run_wide_swish, _mm512_mul_ps(v, wide_sigmoid(_mm512_mul_ps(_mm512_set1_ps(alpha), v))))
HONE_WIDE_UNARY(run_wide_gelu_tanh, wide_gelu_tanh(v))
HONE_WIDE_UNARY(run_coarse_sigmoid, coarse_sigmoid(v))
HONE_WIDE_UNARY(run_coarse_swish, _mm512_mul_ps(v, coarse_sigmoid(_mm512_mul_ps(_mm512_set1_ps(alpha), v))))
HONE_WIDE_UNARY(run_coarse_gelu_tanh, coarse_gelu_tanh(v))
HONE_WIDE_UNARY(run_coarse_gelu_erf, coarse_gelu_erf(v))

UnaryRun wide_unary_run(ChainOp op, LinkError error) {
  const bool coarse = error == LinkError::kOfHalf;
  switch (op) {
    case ChainOp::kSigmoid: return coarse ? run_coarse_sigmoid : run_wide_sigmoid;
    case ChainOp::kSwish: return coarse ? run_coarse_swish : run_wide_swish;
    case ChainOp::kGeluTanh: return coarse ? run_coarse_gelu_tanh : run_wide_gelu_tanh;
    case ChainOp::kGeluErf: return coarse ? run_coarse_gelu_erf : nullptr;
    default: return nullptr;
  }
}

UnaryRun unary_run(ChainOp op, LinkError error) {
  if (const UnaryRun wide = has_avx512() ? wide_unary_run(op, error) : nullptr) return wide;
  switch (op) {
    case ChainOp::kRelu: return run_relu;
    case ChainOp::kLeakyRelu: return run_leaky_relu;
    case ChainOp::kClip: return run_clip;
    case ChainOp::kSigmoid: return run_sigmoid;
    case ChainOp::kTanh: return run_tanh;
    case ChainOp::kHardSwish: return run_hard_swish;
    case ChainOp::kHardSigmoid: return run_hard_sigmoid;
    case ChainOp::kSwish: return run_swish;
    case ChainOp::kElu: return run_elu;
    case ChainOp::kSelu: return run_selu;
    case ChainOp::kCelu: return run_celu;
    case ChainOp::kGeluErf: return run_gelu_erf;
    case ChainOp::kGeluTanh: return run_gelu_tanh;
    case ChainOp::kSoftplus: return run_softplus;
    case ChainOp::kMish: return run_mish;
    case ChainOp::kSoftsign: return run_softsign;
    case ChainOp::kThresholdedRelu: return run_thresholded_relu;
    case ChainOp::kShrink: return run_shrink;
    case ChainOp::kNeg: return run_neg;
    case ChainOp::kAbs: return run_abs;
    case ChainOp::kSign: return run_sign;
    case ChainOp::kExp: return run_exp;
    case ChainOp::kLog: return run_log;
    case ChainOp::kSqrt: return run_sqrt;
    case ChainOp::kErf: return run_erf;
    case ChainOp::kReciprocal: return run_reciprocal;
    case ChainOp::kFloor: return run_floor;
    case ChainOp::kCeil: return run_ceil;
    case ChainOp::kRound: return run_round;
    case ChainOp::kSin: return run_sin;
    case ChainOp::kCos: return run_cos;
    case ChainOp::kTan: return run_tan;
    case ChainOp::kAsin: return run_asin;
    case ChainOp::kAcos: return run_acos;
    case ChainOp::kAtan: return run_atan;
    case ChainOp::kSinh: return run_sinh;
    case ChainOp::kCosh: return run_cosh;
    case ChainOp::kAsinh: return run_asinh;
    case ChainOp::kAcosh: return run_acosh;
    case ChainOp::kAtanh: return run_atanh;
    default: return nullptr;
  }
}

Binary binary_run(ChainOp op) {
  switch (op) {
    case ChainOp::kAdd: return run_add;
    case ChainOp::kMul: return run_mul;
    case ChainOp::kSub: return run_sub;
    case ChainOp::kReverseSub: return run_reverse_sub;
    case ChainOp::kDiv: return run_div;
    case ChainOp::kReverseDiv: return run_reverse_div;
    case ChainOp::kMax: return run_max;
    case ChainOp::kMin: return run_min;
    case ChainOp::kAtLeast: return run_at_least;
    case ChainOp::kAtMost: return run_at_most;
    case ChainOp::kPow: return run_pow;
    case ChainOp::kReversePow: return run_reverse_pow;
    case ChainOp::kPRelu: return run_prelu;
    default: return {};
  }
}

}  // namespace

void apply_link(const ChainLink& link, const float* x, const float* y, size_t y_stride, float* to, size_t n,
                LinkError error) {
  if (!is_binary(link.op)) return unary_run(link.op, error)(x, to, n, link.alpha, link.beta);
  const Binary binary = binary_run(link.op);
  if (y_stride == 0) return binary.run_scalar(x, *y, to, n);
  binary.run(x, y, to, n);
}

int64_t link_cost(ChainOp op) {
  switch (op) {
    case ChainOp::kRelu:
    case ChainOp::kLeakyRelu:
    case ChainOp::kClip:
    case ChainOp::kNeg:
    case ChainOp::kAbs: return 1;
    case ChainOp::kErf:
    case ChainOp::kGeluErf: return 8;
    case ChainOp::kPow:
    case ChainOp::kReversePow: return 64;
    default: break;
  }
  if (is_binary(op)) return 1;
  return op >= ChainOp::kSin ? 32 : 4;
}

HONE_CLONES void widen(const tensor::BFloat16* from, float* to, size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] = std::bit_cast<float>(static_cast<uint32_t>(from[i].bits) << 16);
}

namespace {

/// NaN stays NaN, and what is finite stays finite.
HONE_INLINE void narrow_any(const float* from, tensor::BFloat16* to, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const uint32_t word = std::bit_cast<uint32_t>(from[i]);
    const uint32_t magnitude = word & 0x7fffffffu;
    const uint32_t nearest = (magnitude + 0x7fffu + ((magnitude >> 16) & 1u)) >> 16;
    const uint32_t finite = nearest > 0x7f7fu ? 0x7f7fu : nearest;
    const uint32_t quiet = (magnitude >> 16) | 0x40u;
    const uint32_t other = magnitude > 0x7f800000u ? quiet : 0x7f80u;
    const uint32_t rounded = magnitude < 0x7f800000u ? finite : other;
    to[i].bits = static_cast<uint16_t>(((word >> 16) & 0x8000u) | rounded);
  }
}

/// Narrows numbers that do not round to infinity.
HONE_INLINE void narrow_usual(const float* from, tensor::BFloat16* to, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const uint32_t word = std::bit_cast<uint32_t>(from[i]);
    to[i].bits = static_cast<uint16_t>((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
}

}  // namespace

namespace {

constexpr size_t kBlock = 128;

/// Uses the CPU's own instruction, except for blocks in which that makes infinities, or zeros of subnormal
/// numbers. Returns the number of elements after the last whole block, which it leaves.
__attribute__((target("avx512f,avx512bw,avx512dq,avx512bf16"))) size_t narrow_blocks(const float* from,
                                                                                     tensor::BFloat16* to,
                                                                                     size_t n) {
  constexpr int kSubnormal = 0x20;
  const __m512i magnitude = _mm512_set1_epi16(0x7fff);
  const __m512i infinity = _mm512_set1_epi16(0x7f80);
  for (; n >= kBlock; n -= kBlock, from += kBlock, to += kBlock) {
    uint32_t unusual = 0;
    for (size_t i = 0; i < kBlock; i += 32) {
      const __m512 low = _mm512_loadu_ps(from + i);
      const __m512 high = _mm512_loadu_ps(from + i + 16);
      const auto narrowed = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
      _mm512_storeu_si512(to + i, narrowed);
      unusual |= _mm512_cmpeq_epi16_mask(_mm512_and_si512(narrowed, magnitude), infinity) |
                 _mm512_fpclass_ps_mask(low, kSubnormal) | _mm512_fpclass_ps_mask(high, kSubnormal);
    }
    if (unusual != 0) narrow_any(from, to, kBlock);
  }
  return n;
}

HONE_CLONES void narrow_rest(const float* from, tensor::BFloat16* to, size_t n) {
  for (size_t first = 0; first < n; first += kBlock) {
    const size_t count = n - first < kBlock ? n - first : kBlock;
    uint32_t largest = 0;
    for (size_t i = 0; i < count; ++i) {
      const uint32_t magnitude = std::bit_cast<uint32_t>(from[first + i]) & 0x7fffffffu;
      largest = largest > magnitude ? largest : magnitude;
    }
    if (largest < 0x7f7f8000u) {
      narrow_usual(from + first, to + first, count);
    } else {
      narrow_any(from + first, to + first, count);
    }
  }
}

}  // namespace

void narrow(const float* from, tensor::BFloat16* to, size_t n) {
  const size_t rest = has_avx512_bf16() ? narrow_blocks(from, to, n) : n;
  narrow_rest(from + (n - rest), to + (n - rest), rest);
}

HONE_CLONES bool has_infinity(const tensor::BFloat16* x, size_t n) {
  uint32_t found = 0;
  for (size_t i = 0; i < n; ++i) found |= (x[i].bits & 0x7fffu) == 0x7f80u ? 1u : 0u;
  return found != 0;
}

}  // namespace hone::device::cpu
