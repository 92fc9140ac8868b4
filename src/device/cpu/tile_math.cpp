// See tile_math.hpp.
#include "device/cpu/tile_math.hpp"

#include <immintrin.h>

#include <array>
#include <utility>

#include "device/cpu/clones.hpp"
#include "device/cpu/instructions.hpp"
#include "device/cpu/tile_math_avx2.hpp"

namespace hone::device::cpu {
namespace {

#define HONE_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))
#define HONE_AVX512_INLINE HONE_AVX512 HONE_INLINE

/// How far ahead of the units at hand columns are fetched.
constexpr int64_t kAhead = 16;

template <TileType type>
HONE_AVX512_INLINE __m512 multiply_add(__m512 sum, uint32_t a, __m512i b) {
  const __m512i all = _mm512_set1_epi32(static_cast<int>(a));
  if constexpr (type == TileType::kFloat32) {
    return _mm512_fmadd_ps(_mm512_castsi512_ps(all), _mm512_castsi512_ps(b), sum);
  } else {
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(all), reinterpret_cast<__m512bh>(b));
  }
}

template <TileType type>
HONE_AVX512_INLINE __m512 load_result(const void* result, int64_t at, __mmask16 mask) {
  if constexpr (type == TileType::kFloat32) {
    return _mm512_maskz_loadu_ps(mask, static_cast<const float*>(result) + at);
  } else {
    // The forms with masks: those without leave a register undefined, which GCC 12 warns of.
    const __m256i halves = _mm256_maskz_loadu_epi16(mask, static_cast<const uint16_t*>(result) + at);
    return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(mask, _mm512_maskz_cvtepu16_epi32(mask, halves), 16));
  }
}

template <TileType type>
HONE_AVX512_INLINE void store_result(void* result, int64_t at, __mmask16 mask, __m512 sum) {
  if constexpr (type == TileType::kFloat32) {
    _mm512_mask_storeu_ps(static_cast<float*>(result) + at, mask, sum);
  } else {
    _mm256_mask_storeu_epi16(static_cast<uint16_t*>(result) + at, mask,
                             reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(sum)));
  }
}

/// Adds one unit of each row times one unit of the columns.
template <TileType type, int64_t kRows>
HONE_AVX512_INLINE void add_unit(const uint32_t* a, const uint32_t* b, __m512 (&sums)[kRows][2]) {
  const __m512i first = _mm512_loadu_si512(b);
  const __m512i second = _mm512_loadu_si512(b + 16);
  _mm_prefetch(reinterpret_cast<const char*>(b + kAhead * kTileColumns), _MM_HINT_T0);
  _mm_prefetch(reinterpret_cast<const char*>(b + kAhead * kTileColumns + 16), _MM_HINT_T0);
#pragma GCC unroll 14
  for (int64_t row = 0; row < kRows; ++row) {
    const uint32_t x = a[row * kTileStride];
    sums[row][0] = multiply_add<type>(sums[row][0], x, first);
    sums[row][1] = multiply_add<type>(sums[row][1], x, second);
  }
}

template <TileType type, int64_t kRows>
HONE_AVX512 void run_tile(const uint32_t* a, const uint32_t* b, int64_t units, const TileTarget& target) {
  const auto columns = static_cast<unsigned>(target.columns);
  const std::array<__mmask16, 2> masks = {
      static_cast<__mmask16>(columns >= 16 ? 0xFFFFU : (1U << columns) - 1),
      static_cast<__mmask16>(columns >= 32  ? 0xFFFFU
                             : columns > 16 ? (1U << (columns - 16)) - 1
                                            : 0U)};
  __m512 sums[kRows][2];
  for (int half = 0; half < 2; ++half) {
    const __mmask16 mask = masks[static_cast<size_t>(half)];
    const __m512 bias =
        target.bias == nullptr ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(mask, target.bias + 16 * half);
    for (int64_t row = 0; row < kRows; ++row) {
      if (target.start == TileStart::kSums) {
        sums[row][half] = _mm512_maskz_loadu_ps(mask, target.sums + row * target.sums_stride + 16 * half);
      } else if (target.start == TileStart::kResult) {
        sums[row][half] = _mm512_add_ps(
            bias, load_result<type>(target.result, row * target.result_stride + 16 * half, mask));
      } else {
        sums[row][half] = bias;
      }
    }
  }
  // A few rows alone would wait for each addition: they have several sums of their own, each of every nth
  // unit.
  constexpr int64_t kChains = kRows == 1 ? 4 : kRows <= 3 ? 2 : 1;
  __m512 more[kChains][kRows][2];
  for (auto& chain : more) {
    for (auto& row : chain) row[0] = row[1] = _mm512_setzero_ps();
  }
  int64_t unit = 0;
  for (; unit + kChains <= units; unit += kChains) {
    add_unit<type, kRows>(a + unit, b + unit * kTileColumns, sums);
#pragma GCC unroll 4
    for (int64_t chain = 1; chain < kChains; ++chain)
      add_unit<type, kRows>(a + unit + chain, b + (unit + chain) * kTileColumns, more[chain]);
  }
  for (; unit < units; ++unit) add_unit<type, kRows>(a + unit, b + unit * kTileColumns, sums);
  for (int64_t chain = 1; chain < kChains; ++chain) {
    for (int64_t row = 0; row < kRows; ++row) {
      for (int half = 0; half < 2; ++half)
        sums[row][half] = _mm512_add_ps(sums[row][half], more[chain][row][half]);
    }
  }
  for (int half = 0; half < 2; ++half) {
    const __mmask16 mask = masks[static_cast<size_t>(half)];
    for (int64_t row = 0; row < kRows; ++row) {
      if (target.ends) {
        store_result<type>(target.result, row * target.result_stride + 16 * half, mask, sums[row][half]);
      } else {
        _mm512_mask_storeu_ps(target.sums + row * target.sums_stride + 16 * half, mask, sums[row][half]);
      }
    }
  }
}

using RunTile = void (*)(const uint32_t*, const uint32_t*, int64_t, const TileTarget&);

/// By the number of rows less one.
template <TileType type, size_t... kRows>
constexpr std::array<RunTile, sizeof...(kRows)> tiles(std::index_sequence<kRows...>) {
  return {run_tile<type, static_cast<int64_t>(kRows) + 1>...};
}

constexpr auto kFloat32Tiles = tiles<TileType::kFloat32>(std::make_index_sequence<kTileRows>());
constexpr auto kBFloat16Tiles = tiles<TileType::kBFloat16>(std::make_index_sequence<kTileRows>());

bool uses_avx512() {
  static const bool kUses = has_avx512();
  return kUses;
}

}  // namespace

bool has_tiles(TileType type) {
  if (type == TileType::kFloat32) return uses_avx512() || has_avx2_tiles();
  return has_level(Level::kAvx512Bf16);
}

int64_t tile_rows() { return uses_avx512() ? kTileRows : kAvx2TileRows; }

void multiply_tile(TileType type, int64_t rows, const uint32_t* a, const uint32_t* b, int64_t units,
                   const TileTarget& target) {
  if (!uses_avx512()) return multiply_avx2_tile(rows, a, b, units, target);
  const auto& tiles = type == TileType::kFloat32 ? kFloat32Tiles : kBFloat16Tiles;
  tiles[static_cast<size_t>(rows - 1)](a, b, units, target);
}

}  // namespace hone::device::cpu
