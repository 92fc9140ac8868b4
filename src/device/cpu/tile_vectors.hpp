// Parts of kernels of tiles (tile_math.hpp) with AVX-512: how sums begin, and how they become results.
// Only for files that compile these functions for AVX-512.
#pragma once

#include <immintrin.h>

#include <array>

#include "device/cpu/clones.hpp"
#include "device/cpu/tile_math.hpp"
#include "device/cpu/wide_math.hpp"

#define HONE_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx512vnni")))
#define HONE_AVX512_INLINE HONE_AVX512 HONE_INLINE

namespace hone::device::cpu {

/// Sums of integers are in the same registers as those of float32, which only hold bits then.
template <TileType type>
constexpr bool kIsInteger = type == TileType::kBytes || type == TileType::kShorts;

template <TileType type>
constexpr bool kIsHalf = type == TileType::kBFloat16 || type == TileType::kWidened;

template <TileType type>
HONE_AVX512_INLINE __m512 add(__m512 a, __m512 b) {
  if constexpr (kIsInteger<type>) {
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b)));
  } else {
    return _mm512_add_ps(a, b);
  }
}

template <TileType type>
HONE_AVX512_INLINE __m512 load_result(const void* result, int64_t at, __mmask16 mask) {
  if constexpr (!kIsHalf<type>) {
    return _mm512_maskz_loadu_ps(mask, static_cast<const float*>(result) + at);
  } else {
    // The forms with masks: those without leave a register undefined, which GCC 12 warns of.
    const __m256i halves = _mm256_maskz_loadu_epi16(mask, static_cast<const uint16_t*>(result) + at);
    return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(mask, _mm512_maskz_cvtepu16_epi32(mask, halves), 16));
  }
}

template <TileType type>
HONE_AVX512_INLINE void store_result(void* result, int64_t at, __mmask16 mask, __m512 sum) {
  if constexpr (!kIsHalf<type>) {
    _mm512_mask_storeu_ps(static_cast<float*>(result) + at, mask, sum);
  } else {
    _mm256_mask_storeu_epi16(static_cast<uint16_t*>(result) + at, mask,
                             reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(sum)));
  }
}

/// The masks of the first and the second 16 columns.
inline std::array<__mmask16, 2> masks_of(int64_t count) {
  const auto columns = static_cast<unsigned>(count);
  return {static_cast<__mmask16>(columns >= 16 ? 0xFFFFU : (1U << columns) - 1),
          static_cast<__mmask16>(columns >= 32  ? 0xFFFFU
                                 : columns > 16 ? (1U << (columns - 16)) - 1
                                                : 0U)};
}

/// In place, on sums that leave their registers anyway.
template <TileType type, int64_t kRows>
HONE_AVX512_INLINE void apply_function(TileFunction function, __m512 (&sums)[kRows][2]) {
  if constexpr (kIsInteger<type>) return;
  if (function == TileFunction::kRelu) {
    for (int64_t row = 0; row < kRows; ++row) {
      for (int half = 0; half < 2; ++half)
        // Written so that a NaN stays one.
        sums[row][half] = _mm512_maskz_max_ps(0xFFFF, _mm512_setzero_ps(), sums[row][half]);
    }
  } else if (function == TileFunction::kSwish) {
#pragma GCC unroll 1
    for (int64_t row = 0; row < kRows; ++row) {
      for (int half = 0; half < 2; ++half) {
        const __m512 x = sums[row][half];
        sums[row][half] = _mm512_mul_ps(x, kIsHalf<type> ? coarse_sigmoid(x) : wide_sigmoid(x));
      }
    }
  }
}

}  // namespace hone::device::cpu
