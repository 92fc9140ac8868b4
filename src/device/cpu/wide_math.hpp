// Elementary functions on vectors of AVX-512, with instructions that plain loops (vector_math.hpp) cannot
// name: scaling by a power of two, rounding, and a reciprocal to 14 bits.
#pragma once

#include <immintrin.h>

#include "device/cpu/clones.hpp"

namespace hone::device::cpu {

#define HONE_AVX512_MATH __attribute__((target("avx512f,avx512dq"))) HONE_INLINE

// Forms with masks: those without leave a register undefined, which GCC 12 warns of.

/// 1 / (1 + e^-x), to a few units in the last place; 0 where the result is no normal number, since what
/// multiplies it may be as large as floats are.
HONE_AVX512_MATH __m512 wide_sigmoid(__m512 x) {
  // Written so that a NaN stays one.
  const __m512 bounded = _mm512_maskz_max_ps(0xFFFF, _mm512_set1_ps(-104.0f),
                                             _mm512_maskz_min_ps(0xFFFF, _mm512_set1_ps(88.0f), x));
  const __m512 turns = _mm512_maskz_roundscale_ps(
      0xFFFF, _mm512_mul_ps(bounded, _mm512_set1_ps(-1.44269504f)), _MM_FROUND_TO_NEAREST_INT);
  // e^-x = 2^turns e^r with |r| <= ln 2 / 2, and infinite from 2^128 on.
  __m512 r = _mm512_fnmsub_ps(turns, _mm512_set1_ps(0.693359375f), bounded);
  r = _mm512_fmadd_ps(turns, _mm512_set1_ps(2.12194440e-4f), r);
  __m512 p = _mm512_set1_ps(0.00831252523f);
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.0418901145f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.166671142f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.499992311f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
  const __m512 below = _mm512_add_ps(_mm512_maskz_scalef_ps(0xFFFF, p, turns), _mm512_set1_ps(1.0f));
  return _mm512_div_ps(_mm512_set1_ps(1.0f), below);
}

/// x times the logistic function of 2 sqrt(2 / pi) (x + 0.044715 x^3).
HONE_AVX512_MATH __m512 wide_gelu_tanh(__m512 x) {
  const __m512 cubic = _mm512_mul_ps(_mm512_mul_ps(x, x), _mm512_set1_ps(0.044715f));
  const __m512 inner = _mm512_mul_ps(_mm512_fmadd_ps(cubic, x, x), _mm512_set1_ps(1.59576912f));
  return _mm512_mul_ps(x, wide_sigmoid(inner));
}

/// The coarse forms are for results that are rounded to bfloat16: they are off by a quarter of that rounding
/// at most. Infinities need no bounds here: their fraction is 0.
HONE_AVX512_MATH __m512 coarse_sigmoid(__m512 x) {
  const __m512 turns = _mm512_mul_ps(x, _mm512_set1_ps(-1.44269504f));
  const __m512 r = _mm512_maskz_reduce_ps(0xFFFF, turns, _MM_FROUND_TO_NEG_INF);
  // 2^r for 0 <= r < 1.
  __m512 p = _mm512_set1_ps(0.0780245140f);
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.226067200f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.695833504f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.999925196f));
  const __m512 below = _mm512_add_ps(_mm512_maskz_scalef_ps(0xFFFF, p, turns), _mm512_set1_ps(1.0f));
  return _mm512_maskz_rcp14_ps(0xFFFF, below);
}

HONE_AVX512_MATH __m512 coarse_gelu_tanh(__m512 x) {
  const __m512 cubic = _mm512_mul_ps(_mm512_mul_ps(x, x), _mm512_set1_ps(0.044715f));
  const __m512 inner = _mm512_mul_ps(_mm512_fmadd_ps(cubic, x, x), _mm512_set1_ps(1.59576912f));
  return _mm512_mul_ps(x, coarse_sigmoid(inner));
}

/// The normal distribution's share below x is the logistic function of x times a polynomial of x^2, which is
/// a minimax fit as far as 5.5.
HONE_AVX512_MATH __m512 coarse_gelu_erf(__m512 x) {
  const __m512 t = _mm512_maskz_min_ps(0xFFFF, _mm512_set1_ps(30.25f), _mm512_mul_ps(x, x));
  __m512 p = _mm512_set1_ps(6.62038591e-10f);
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(-7.23096345e-08f));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(3.00367060e-06f));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(-5.01891300e-05f));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(-0.000426396553f));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(0.0735948682f));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(1.59508646f));
  return _mm512_mul_ps(x, coarse_sigmoid(_mm512_mul_ps(x, p)));
}

}  // namespace hone::device::cpu
