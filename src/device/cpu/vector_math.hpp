// Elementary functions of a float without branches or calls, so that loops over them are vectorised. Errors
// are a few units in the last place; polynomials are minimax fits of relative error below 1e-8.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "device/cpu/clones.hpp"

namespace hone::device::cpu {

/// A float as bits and back, shifted to the exponent.
HONE_INLINE float power_of_two(int32_t k) {
  return std::bit_cast<float>(static_cast<uint32_t>(k + 127) << 23);
}

/// x = k ln 2 + r with |r| <= ln 2 / 2, and e^r - 1. |x| < 2^21; a NaN stays in `less_one`.
struct ReducedExp {
  int32_t k;
  float less_one;
};

HONE_INLINE ReducedExp reduced_exp(float x) {
  // Adding 1.5 * 2^23 rounds to an integer, which then stands in the low bits.
  constexpr float kRound = 12582912.0f;
  const float rounded = x * 1.44269504f + kRound;
  const auto k = static_cast<int32_t>(std::bit_cast<uint32_t>(rounded) - std::bit_cast<uint32_t>(kRound));
  const float turns = rounded - kRound;
  const float r = (x - turns * 0.693359375f) + turns * 2.12194440e-4f;
  float p = 0.00139517173f;
  p = p * r + 0.00836959841f;
  p = p * r + 0.0416661873f;
  p = p * r + 0.166665129f;
  p = p * r + 0.5f;
  return {k, p * r * r + r};
}

/// e^x where the result is a normal number; the nearest such one elsewhere.
HONE_INLINE float bounded_exp(float x) {
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  const ReducedExp e = reduced_exp(x);
  return (1.0f + e.less_one) * power_of_two(e.k);
}

/// e^x with infinity, zero and numbers between it and the smallest normal one.
HONE_INLINE float vector_exp(float x) {
  x = x < -104.0f ? -104.0f : x;
  x = x > 89.0f ? 89.0f : x;
  const ReducedExp e = reduced_exp(x);
  const int32_t half = e.k >> 1;
  return (1.0f + e.less_one) * power_of_two(half) * power_of_two(e.k - half);
}

/// e^x - 1 for x <= 0.
HONE_INLINE float expm1_of_negative(float x) {
  x = x < -30.0f ? -30.0f : x;
  const ReducedExp e = reduced_exp(x);
  const float scale = power_of_two(e.k);
  return scale * e.less_one + (scale - 1.0f);
}

HONE_INLINE float vector_log(float x) {
  const float normal = x < 1.17549435e-38f ? x * 8388608.0f : x;
  const float shift = x < 1.17549435e-38f ? 23.0f : 0.0f;
  const uint32_t bits = std::bit_cast<uint32_t>(normal);
  // The mantissa is taken from [sqrt(1/2), sqrt(2)), so that logarithms near 0 keep their digits.
  const auto exponent = static_cast<int32_t>(bits - 0x3f3504f3u) >> 23;
  const float f = std::bit_cast<float>(bits - (static_cast<uint32_t>(exponent) << 23)) - 1.0f;
  const float e = static_cast<float>(exponent) - shift;
  float p = -0.0763442991f;
  p = p * f + 0.127615504f;
  p = p * f - 0.131601951f;
  p = p * f + 0.142017625f;
  p = p * f - 0.166233565f;
  p = p * f + 0.200012267f;
  p = p * f - 0.250008211f;
  p = p * f + 0.333333317f;
  const float small = p * f * f * f - 0.5f * f * f - e * 2.12194440e-4f;
  float result = (f + small) + e * 0.693359375f;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  result = x == kInfinity ? kInfinity : result;
  result = x == 0.0f ? -kInfinity : result;
  return x >= 0.0f ? result : std::numeric_limits<float>::quiet_NaN();
}

/// log(1 + x) for x from 0 to 1: 2 atanh(x / (2 + x)).
HONE_INLINE float log1p_of_fraction(float x) {
  const float s = x / (2.0f + x);
  const float t = s * s;
  float p = 0.122124497f;
  p = p * t + 0.106949816f;
  p = p * t + 0.143105209f;
  p = p * t + 0.199993391f;
  p = p * t + 0.333333397f;
  return 2.0f * (s + s * t * p);
}

/// A quotient of polynomials in x^2, 1 from where it rounds to 1.
HONE_INLINE float vector_tanh(float x) {
  x = x < -9.02f ? -9.02f : x;
  x = x > 9.02f ? 9.02f : x;
  const float t = x * x;
  float p = 1.33195393e-08f;
  p = p * t + 2.05838578e-05f;
  p = p * t + 0.00349405925f;
  p = p * t + 0.133797394f;
  p = p * t + 0.999999979f;
  float q = 7.76222215e-07f;
  q = q * t + 0.000328313192f;
  q = q * t + 0.0258711691f;
  q = q * t + 0.467130547f;
  q = q * t + 1.0f;
  const float y = x * p / q;
  return y > 1.0f ? 1.0f : (y < -1.0f ? -1.0f : y);
}

/// 0 where the result is no normal number: what multiplies it may be as large as floats are.
HONE_INLINE float vector_sigmoid(float x) {
  const float y = 1.0f / (1.0f + bounded_exp(-x));
  return x < -87.0f ? 0.0f : y;
}

HONE_INLINE float softplus(float x) {
  const float a = x < 0.0f ? x : -x;
  return (x < 0.0f ? 0.0f : x) + log1p_of_fraction(bounded_exp(a));
}

/// x tanh(log(1 + e^x)), where the tanh is (e^2 + 2e) / (e^2 + 2e + 2) with e = e^x.
HONE_INLINE float mish(float x) {
  const float small = bounded_exp(x > 20.0f ? 20.0f : x);
  const float e = x < -87.0f ? 0.0f : small;
  const float n = e * e + 2.0f * e;
  return x * (n / (n + 2.0f));
}

/// erf(x) / x for |x| <= 1, by x^2.
HONE_INLINE float erf_ratio(float t) {
  float p = 7.85385757e-05f;
  p = p * t - 0.000801019248f;
  p = p * t + 0.00518832756f;
  p = p * t - 0.0268538119f;
  p = p * t + 0.112835851f;
  p = p * t - 0.376126258f;
  return p * t + 1.12837917f;
}

/// 1 - erf(a) for a >= 1, to 1e-6 of itself as far as 6, and 0 beyond: e^(-a^2) times e to a polynomial.
HONE_INLINE float erfc_of_large(float x) {
  const float a = x > 6.0f ? 6.0f : x;
  float p = -8.32912315e-08f;
  p = p * a + 3.33614569e-06f;
  p = p * a - 6.05836445e-05f;
  p = p * a + 0.000663729149f;
  p = p * a - 0.00493560553f;
  p = p * a + 0.0266690902f;
  p = p * a - 0.110194661f;
  p = p * a + 0.368028623f;
  p = p * a - 1.13002039f;
  p = p * a + 0.000240984924f;
  const ReducedExp e = reduced_exp(p - a * a);
  const float y = (1.0f + e.less_one) * power_of_two(e.k);
  return x > 6.0f ? 0.0f : y;
}

HONE_INLINE float vector_erf(float x) {
  const float a = x < 0.0f ? -x : x;
  const float near = x * erf_ratio(x * x);
  const float far = 1.0f - erfc_of_large(a);
  return a > 1.0f ? (x < 0.0f ? -far : far) : near;
}

/// x times the normal distribution's share below x, which keeps its digits on the left.
HONE_INLINE float gelu_erf(float x) {
  const float z = x * 0.70710678f;
  const float a = z < 0.0f ? -z : z;
  const float half = 0.5f * erfc_of_large(a);
  const float near = 0.5f + 0.5f * z * erf_ratio(z * z);
  return x * (a > 1.0f ? (z < 0.0f ? half : 1.0f - half) : near);
}

}  // namespace hone::device::cpu
