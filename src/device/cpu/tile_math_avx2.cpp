// See tile_math_avx2.hpp.
#include "device/cpu/tile_math_avx2.hpp"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <utility>

#include "device/cpu/clones.hpp"

namespace hone::device::cpu {
namespace {

#define HONE_AVX2 __attribute__((target("avx2,fma")))
#define HONE_AVX2_INLINE HONE_AVX2 HONE_INLINE

/// Floats of a vector.
constexpr int64_t kLanes = 8;
/// How many units before their use columns are fetched.
constexpr int64_t kAhead = 16;

/// The lanes of vector `index` of a part that columns are left for.
HONE_AVX2_INLINE __m256i mask_of(int64_t columns, int64_t index) {
  const auto left = static_cast<int>(columns - index * kLanes);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(left), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/// Loads and stores with a mask take processors of AMD some ten cycles each, so whole vectors have none.
HONE_AVX2_INLINE __m256 load(const float* from, bool whole, __m256i mask) {
  return whole ? _mm256_loadu_ps(from) : _mm256_maskload_ps(from, mask);
}

HONE_AVX2_INLINE void store(float* to, bool whole, __m256i mask, __m256 values) {
  if (whole) {
    _mm256_storeu_ps(to, values);
  } else {
    _mm256_maskstore_ps(to, mask, values);
  }
}

/// Sums of integers are in the same registers as those of float32, which only hold bits then.
template <TileType type>
HONE_AVX2_INLINE __m256 add(__m256 a, __m256 b) {
  if constexpr (type == TileType::kFloat32) {
    return _mm256_add_ps(a, b);
  } else {
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b)));
  }
}

template <TileType type>
HONE_AVX2_INLINE __m256 multiply_add(__m256 a, __m256 b, __m256 sum) {
  if constexpr (type == TileType::kFloat32) {
    return _mm256_fmadd_ps(a, b, sum);
  } else {
    // Written out, since for the same intrinsics GCC 12 moves sums through the stack.
    __m256i products;
    __asm__("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+x"(sum), "=&x"(products) : "x"(a), "x"(b));
    return sum;
  }
}

/// Adds one unit of each row times one unit of the columns.
template <TileType type, int64_t kRows, int64_t kVectors>
HONE_AVX2_INLINE void add_unit(const float* a, const float* b, __m256 (&sums)[kRows][kVectors]) {
  __m256 columns[kVectors];
#pragma GCC unroll 4
  for (int64_t i = 0; i < kVectors; ++i) columns[i] = _mm256_loadu_ps(b + i * kLanes);
#pragma GCC unroll 2
  for (int64_t i = 0; i < kVectors; i += 2)
    _mm_prefetch(reinterpret_cast<const char*>(b + kAhead * kTileColumns + i * kLanes), _MM_HINT_T0);
#pragma GCC unroll 12
  for (int64_t row = 0; row < kRows; ++row) {
    const __m256 x = _mm256_broadcast_ss(a + row * kTileStride);
#pragma GCC unroll 4
    for (int64_t i = 0; i < kVectors; ++i) sums[row][i] = multiply_add<type>(x, columns[i], sums[row][i]);
  }
}

template <TileType type, int64_t kRows, int64_t kVectors>
HONE_AVX2_INLINE void load_sums(const TileTarget& target, __m256 (&sums)[kRows][kVectors]) {
  const auto* const all_bias = static_cast<const float*>(target.bias);
  const auto* const kept = static_cast<const float*>(target.sums);
  const auto* const result = static_cast<const float*>(target.result);
#pragma GCC unroll 4
  for (int64_t i = 0; i < kVectors; ++i) {
    const __m256i mask = mask_of(target.columns, i);
    const bool whole = target.columns >= (i + 1) * kLanes;
    const __m256 bias = all_bias == nullptr ? _mm256_setzero_ps() : load(all_bias + i * kLanes, whole, mask);
#pragma GCC unroll 12
    for (int64_t row = 0; row < kRows; ++row) {
      if (target.start == TileStart::kSums) {
        sums[row][i] = load(kept + row * target.sums_stride + i * kLanes, whole, mask);
      } else if (target.start == TileStart::kResult) {
        sums[row][i] = add<type>(bias, load(result + row * target.result_stride + i * kLanes, whole, mask));
      } else {
        sums[row][i] = bias;
      }
    }
  }
}

/// Up to kVectors vectors of columns of kRows rows.
template <TileType type, int64_t kRows, int64_t kVectors>
HONE_AVX2 void run_part(const float* a, const float* b, int64_t units, const TileTarget& target) {
  __m256 sums[kRows][kVectors];
  load_sums<type>(target, sums);
  // With only a few rows, each addition would wait for the one before: a row then has several sums, each over
  // every nth unit.
  constexpr int64_t kChains = kRows * kVectors <= 2 ? 4 : kRows * kVectors <= 4 ? 2 : 1;
  __m256 more[kChains][kRows][kVectors];
  for (auto& chain : more) {
    for (auto& row : chain) {
      for (__m256& sum : row) sum = _mm256_setzero_ps();
    }
  }
  int64_t unit = 0;
  for (; unit + kChains <= units; unit += kChains) {
    add_unit<type>(a + unit, b + unit * kTileColumns, sums);
#pragma GCC unroll 4
    for (int64_t chain = 1; chain < kChains; ++chain)
      add_unit<type>(a + unit + chain, b + (unit + chain) * kTileColumns, more[chain]);
  }
  for (; unit < units; ++unit) add_unit<type>(a + unit, b + unit * kTileColumns, sums);
  auto* const to = static_cast<float*>(target.ends ? target.result : target.sums);
  const int64_t stride = target.ends ? target.result_stride : target.sums_stride;
#pragma GCC unroll 4
  for (int64_t i = 0; i < kVectors; ++i) {
    const __m256i mask = mask_of(target.columns, i);
    const bool whole = target.columns >= (i + 1) * kLanes;
#pragma GCC unroll 12
    for (int64_t row = 0; row < kRows; ++row) {
#pragma GCC unroll 4
      for (int64_t chain = 1; chain < kChains; ++chain)
        sums[row][i] = add<type>(sums[row][i], more[chain][row][i]);
      store(to + row * stride + i * kLanes, whole, mask, sums[row][i]);
    }
  }
}

using RunPart = void (*)(const float*, const float*, int64_t, const TileTarget&);

/// Functions by the number of rows less one.
template <TileType type, int64_t kVectors, size_t... kRows>
constexpr std::array<RunPart, sizeof...(kRows)> parts(std::index_sequence<kRows...>) {
  return {run_part<type, static_cast<int64_t>(kRows) + 1, kVectors>...};
}

/// Functions by the number of vectors.
struct Parts {
  std::array<RunPart, 12> one;
  std::array<RunPart, 6> two;
  std::array<RunPart, 3> four;
};

template <TileType type>
constexpr Parts kParts = {parts<type, 1>(std::make_index_sequence<12>()),
                          parts<type, 2>(std::make_index_sequence<6>()),
                          parts<type, 4>(std::make_index_sequence<3>())};

/// The target of the part that begins there.
TileTarget part_of(const TileTarget& tile, int64_t row, int64_t column) {
  TileTarget part = tile;
  part.columns = tile.columns - column;
  if (part.bias != nullptr) part.bias = static_cast<const float*>(tile.bias) + column;
  if (part.sums != nullptr) part.sums = static_cast<float*>(tile.sums) + row * tile.sums_stride + column;
  if (part.result != nullptr)
    part.result = static_cast<float*>(tile.result) + row * tile.result_stride + column;
  return part;
}

}  // namespace

void multiply_avx2_tile(TileType type, int64_t rows, const uint32_t* a, const uint32_t* b, int64_t units,
                        const TileTarget& target) {
  const Parts& table = type == TileType::kFloat32 ? kParts<TileType::kFloat32> : kParts<TileType::kShorts>;
  const auto* const left = reinterpret_cast<const float*>(a);
  const auto* const right = reinterpret_cast<const float*>(b);
  int64_t vectors = 0;
  for (int64_t column = 0; column < target.columns; column += vectors * kLanes) {
    const int64_t columns = target.columns - column;
    vectors = columns <= kLanes ? 1 : rows <= 3 && columns > 2 * kLanes ? 4 : 2;
    const int64_t most = vectors == 1 ? 12 : vectors == 2 ? 6 : 3;
    const auto* const by_rows = vectors == 1   ? table.one.data()
                                : vectors == 2 ? table.two.data()
                                               : table.four.data();
    const int64_t count = parts_of(rows, most);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = rows * i / count;
      const int64_t height = rows * (i + 1) / count - row;
      by_rows[height - 1](left + row * kTileStride, right + column, units, part_of(target, row, column));
    }
  }
}

}  // namespace hone::device::cpu
