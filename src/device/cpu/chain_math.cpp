// See chain_math.hpp. Loops are plain; the compiler vectorises them once per instruction set named here.
#include "device/cpu/chain_math.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define HONE_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), optimize("O3")))
#else
#define HONE_CLONES
#endif

namespace hone::device::cpu {
namespace {

/// e^x to about 2 ulp: 2^k by exponent bits times a degree-6 polynomial on [-ln2/2, ln2/2] (Cody and Waite's
/// reduction; coefficients are the Taylor series', enough for float on that interval).
inline float fast_exp(float x) {
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  const float k = std::floor(x * 1.44269504f + 0.5f);
  const float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
  float p = 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return p * std::bit_cast<float>((static_cast<int32_t>(k) + 127) << 23);
}

inline float sigmoid(float x) { return 1.0f / (1.0f + fast_exp(-x)); }
/// tanh through e^(-2|x|), so that large arguments do not overflow and small ones keep their digits.
inline float fast_tanh(float x) {
  const float a = std::fabs(x);
  const float e = fast_exp(-2.0f * a);
  const float large = (1.0f - e) / (1.0f + e);
  const float small = a - a * a * a * (1.0f / 3) + a * a * a * a * a * (2.0f / 15);
  const float magnitude = a < 0.05f ? small : large;
  return std::copysign(magnitude, x);
}

// One function per operation, because a clone is chosen per function and the switch must stay outside the
// loop.
#define HONE_UNARY(name, expression)                                                                     \
  HONE_CLONES void name(float* x, size_t n, [[maybe_unused]] float alpha, [[maybe_unused]] float beta) { \
    for (size_t i = 0; i < n; ++i) {                                                                     \
      const float v = x[i];                                                                              \
      x[i] = expression;                                                                                 \
    }                                                                                                    \
  }
#define HONE_BINARY(name, expression)                                               \
  HONE_CLONES void name(float* __restrict x, const float* __restrict y, size_t n) { \
    for (size_t i = 0; i < n; ++i) {                                                \
      const float v = x[i];                                                         \
      const float w = y[i];                                                         \
      x[i] = expression;                                                            \
    }                                                                               \
  }                                                                                 \
  HONE_CLONES void name##_scalar(float* x, float w, size_t n) {                     \
    for (size_t i = 0; i < n; ++i) {                                                \
      const float v = x[i];                                                         \
      x[i] = expression;                                                            \
    }                                                                               \
  }

// Comparisons are written so that a NaN in v stays one.
HONE_UNARY(run_relu, v < 0.0f ? 0.0f : v)
HONE_UNARY(run_leaky_relu, v < 0.0f ? alpha * v : v)
HONE_UNARY(run_clip, v < alpha ? alpha : (v > beta ? beta : v))
HONE_UNARY(run_sigmoid, sigmoid(v))
HONE_UNARY(run_tanh, fast_tanh(v))
HONE_UNARY(run_hard_swish, v*(v + 3.0f < 0.0f ? 0.0f : (v + 3.0f > 6.0f ? 6.0f : v + 3.0f)) * (1.0f / 6))
HONE_UNARY(run_hard_sigmoid,
           (alpha * v + beta < 0.0f ? 0.0f : (alpha * v + beta > 1.0f ? 1.0f : alpha * v + beta)))
HONE_UNARY(run_swish, v* sigmoid(alpha* v))
HONE_UNARY(run_elu, v < 0.0f ? alpha * std::expm1(v) : v)
HONE_UNARY(run_gelu_erf, 0.5f * v * (1.0f + std::erf(v * 0.70710678f)))
HONE_UNARY(run_gelu_tanh, 0.5f * v * (1.0f + fast_tanh(0.79788456f * (v + 0.044715f * v * v * v))))
HONE_UNARY(run_softplus, (v > 0.0f ? v : 0.0f) + std::log1p(fast_exp(-std::fabs(v))))
HONE_UNARY(run_mish, v* fast_tanh((v > 0.0f ? v : 0.0f) + std::log1p(fast_exp(-std::fabs(v)))))
HONE_UNARY(run_neg, -v)
HONE_UNARY(run_abs, std::fabs(v))
HONE_UNARY(run_exp, std::exp(v))
HONE_UNARY(run_sqrt, std::sqrt(v))
HONE_BINARY(run_add, v + w)
HONE_BINARY(run_mul, v* w)
HONE_BINARY(run_sub, v - w)
HONE_BINARY(run_reverse_sub, w - v)
HONE_BINARY(run_div, v / w)
HONE_BINARY(run_max, v < w ? w : v)
HONE_BINARY(run_min, v > w ? w : v)

struct Binary {
  void (*run)(float*, const float*, size_t);
  void (*run_scalar)(float*, float, size_t);
};

void run_binary(const Binary& binary, float* x, const float* y, size_t y_stride, size_t n) {
  if (y_stride == 0) {
    binary.run_scalar(x, *y, n);
    return;
  }
  binary.run(x, y, n);
}

}  // namespace

void apply_link(const ChainLink& link, float* x, const float* y, size_t y_stride, size_t n) {
  switch (link.op) {
    case ChainOp::kRelu: return run_relu(x, n, link.alpha, link.beta);
    case ChainOp::kLeakyRelu: return run_leaky_relu(x, n, link.alpha, link.beta);
    case ChainOp::kClip: return run_clip(x, n, link.alpha, link.beta);
    case ChainOp::kSigmoid: return run_sigmoid(x, n, link.alpha, link.beta);
    case ChainOp::kTanh: return run_tanh(x, n, link.alpha, link.beta);
    case ChainOp::kHardSwish: return run_hard_swish(x, n, link.alpha, link.beta);
    case ChainOp::kHardSigmoid: return run_hard_sigmoid(x, n, link.alpha, link.beta);
    case ChainOp::kSwish: return run_swish(x, n, link.alpha, link.beta);
    case ChainOp::kElu: return run_elu(x, n, link.alpha, link.beta);
    case ChainOp::kGeluErf: return run_gelu_erf(x, n, link.alpha, link.beta);
    case ChainOp::kGeluTanh: return run_gelu_tanh(x, n, link.alpha, link.beta);
    case ChainOp::kSoftplus: return run_softplus(x, n, link.alpha, link.beta);
    case ChainOp::kMish: return run_mish(x, n, link.alpha, link.beta);
    case ChainOp::kNeg: return run_neg(x, n, link.alpha, link.beta);
    case ChainOp::kAbs: return run_abs(x, n, link.alpha, link.beta);
    case ChainOp::kExp: return run_exp(x, n, link.alpha, link.beta);
    case ChainOp::kSqrt: return run_sqrt(x, n, link.alpha, link.beta);
    case ChainOp::kAdd: return run_binary({run_add, run_add_scalar}, x, y, y_stride, n);
    case ChainOp::kMul: return run_binary({run_mul, run_mul_scalar}, x, y, y_stride, n);
    case ChainOp::kSub: return run_binary({run_sub, run_sub_scalar}, x, y, y_stride, n);
    case ChainOp::kReverseSub:
      return run_binary({run_reverse_sub, run_reverse_sub_scalar}, x, y, y_stride, n);
    case ChainOp::kDiv: return run_binary({run_div, run_div_scalar}, x, y, y_stride, n);
    case ChainOp::kMax: return run_binary({run_max, run_max_scalar}, x, y, y_stride, n);
    case ChainOp::kMin: return run_binary({run_min, run_min_scalar}, x, y, y_stride, n);
  }
}

HONE_CLONES void widen(const tensor::BFloat16* from, float* to, size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] = std::bit_cast<float>(static_cast<uint32_t>(from[i].bits) << 16);
}

HONE_CLONES void narrow(const float* from, tensor::BFloat16* to, size_t n) {
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

HONE_CLONES bool has_infinity(const tensor::BFloat16* x, size_t n) {
  uint32_t found = 0;
  for (size_t i = 0; i < n; ++i) found |= (x[i].bits & 0x7fffu) == 0x7f80u ? 1u : 0u;
  return found != 0;
}

}  // namespace hone::device::cpu
