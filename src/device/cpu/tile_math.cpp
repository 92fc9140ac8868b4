// See tile_math.hpp.
#include "device/cpu/tile_math.hpp"

#include <immintrin.h>

#include <array>
#include <cstring>
#include <utility>

#include "device/cpu/instructions.hpp"
#include "device/cpu/tile_math_avx2.hpp"
#include "device/cpu/tile_vectors.hpp"

namespace hone::device::cpu {
namespace {

/// How many units before their use columns are fetched.
constexpr int64_t kAhead = 16;

/// Instructions that are written out leave each sum in its register: for the same intrinsics GCC 12 moves
/// sums through the stack.
template <TileType type>
HONE_AVX512_INLINE __m512 multiply_add(__m512 sum, uint32_t a, __m512i b) {
  const __m512i all = _mm512_set1_epi32(static_cast<int>(a));
  if constexpr (type == TileType::kFloat32) {
    return _mm512_fmadd_ps(_mm512_castsi512_ps(all), _mm512_castsi512_ps(b), sum);
  } else if constexpr (type == TileType::kBFloat16) {
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(all), reinterpret_cast<__m512bh>(b));
  } else if constexpr (type == TileType::kWidened) {
    __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(all), "v"(b));
  } else if constexpr (type == TileType::kBytes) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(all), "v"(b));
  } else {
    __m512i products;
    __asm__("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+v"(sum), "=&v"(products) : "v"(all), "v"(b));
  }
  return sum;
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

/// Adds two neighbours: the first one of each pair is the lower half of four bytes.
template <int64_t kRows>
HONE_AVX512_INLINE void add_widened_unit(const uint32_t* a, const uint32_t* b, __m512 (&sums)[kRows][2]) {
  const __m512i first = _mm512_loadu_si512(b);
  const __m512i second = _mm512_loadu_si512(b + 16);
  _mm_prefetch(reinterpret_cast<const char*>(b + kAhead * kTileColumns), _MM_HINT_T0);
  _mm_prefetch(reinterpret_cast<const char*>(b + kAhead * kTileColumns + 16), _MM_HINT_T0);
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xFFFF0000U));
#pragma GCC unroll 2
  for (int neighbour = 0; neighbour < 2; ++neighbour) {
    const __m512i one =
        neighbour == 0 ? _mm512_maskz_slli_epi32(0xFFFF, first, 16) : _mm512_and_si512(first, upper);
    const __m512i other =
        neighbour == 0 ? _mm512_maskz_slli_epi32(0xFFFF, second, 16) : _mm512_and_si512(second, upper);
#pragma GCC unroll 14
    for (int64_t row = 0; row < kRows; ++row) {
      const uint32_t x = a[row * kTileStride + neighbour];
      sums[row][0] = multiply_add<TileType::kWidened>(sums[row][0], x, one);
      sums[row][1] = multiply_add<TileType::kWidened>(sums[row][1], x, other);
    }
  }
}

/// One unit of that type, of which there are more before.
template <TileType type, int64_t kRows>
HONE_AVX512_INLINE void add_unit_at(const uint32_t* a, const uint32_t* b, int64_t unit,
                                    __m512 (&sums)[kRows][2]) {
  if constexpr (type == TileType::kWidened) {
    add_widened_unit<kRows>(a + 2 * unit, b + unit * kTileColumns, sums);
  } else {
    add_unit<type, kRows>(a + unit, b + unit * kTileColumns, sums);
  }
}

template <TileType type, int64_t kRows>
HONE_AVX512 void run_tile(const uint32_t* a, const uint32_t* b, int64_t units, const TileTarget& target) {
  const std::array<__mmask16, 2> masks = masks_of(target.columns);
  const auto* const all_bias = static_cast<const float*>(target.bias);
  auto* const kept = static_cast<float*>(target.sums);
  __m512 sums[kRows][2];
  for (int half = 0; half < 2; ++half) {
    const __mmask16 mask = masks[static_cast<size_t>(half)];
    const __m512 bias =
        all_bias == nullptr ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(mask, all_bias + 16 * half);
    for (int64_t row = 0; row < kRows; ++row) {
      if (target.start == TileStart::kSums) {
        sums[row][half] = _mm512_maskz_loadu_ps(mask, kept + row * target.sums_stride + 16 * half);
      } else if (target.start == TileStart::kResult) {
        sums[row][half] =
            add<type>(bias, load_result<type>(target.result, row * target.result_stride + 16 * half, mask));
      } else {
        sums[row][half] = bias;
      }
    }
  }
  // A few rows by themselves would wait for each addition: they have several sums of their own, each of every
  // nth unit.
  constexpr int64_t kChains = kRows == 1 ? 4 : kRows <= 3 ? 2 : 1;
  __m512 more[kChains][kRows][2];
  for (auto& chain : more) {
    for (auto& row : chain) row[0] = row[1] = _mm512_setzero_ps();
  }
  int64_t unit = 0;
  for (; unit + kChains <= units; unit += kChains) {
    add_unit_at<type, kRows>(a, b, unit, sums);
#pragma GCC unroll 4
    for (int64_t chain = 1; chain < kChains; ++chain)
      add_unit_at<type, kRows>(a, b, unit + chain, more[chain]);
  }
  for (; unit < units; ++unit) add_unit_at<type, kRows>(a, b, unit, sums);
  for (int64_t chain = 1; chain < kChains; ++chain) {
    for (int64_t row = 0; row < kRows; ++row) {
      for (int half = 0; half < 2; ++half)
        sums[row][half] = add<type>(sums[row][half], more[chain][row][half]);
    }
  }
  if (target.ends) apply_function<type>(target.function, sums);
  for (int half = 0; half < 2; ++half) {
    const __mmask16 mask = masks[static_cast<size_t>(half)];
    for (int64_t row = 0; row < kRows; ++row) {
      if (target.ends) {
        store_result<type>(target.result, row * target.result_stride + 16 * half, mask, sums[row][half]);
      } else {
        _mm512_mask_storeu_ps(kept + row * target.sums_stride + 16 * half, mask, sums[row][half]);
      }
    }
  }
}

using RunTile = void (*)(const uint32_t*, const uint32_t*, int64_t, const TileTarget&);

/// Functions by the number of rows less one.
template <TileType type, size_t... kRows>
constexpr std::array<RunTile, sizeof...(kRows)> tiles(std::index_sequence<kRows...>) {
  return {run_tile<type, static_cast<int64_t>(kRows) + 1>...};
}

constexpr auto kRowCounts = std::make_index_sequence<kTileRows>();
constexpr std::array<std::array<RunTile, kTileRows>, 5> kTiles = {
    tiles<TileType::kFloat32>(kRowCounts), tiles<TileType::kBFloat16>(kRowCounts),
    tiles<TileType::kWidened>(kRowCounts), tiles<TileType::kBytes>(kRowCounts),
    tiles<TileType::kShorts>(kRowCounts)};

}  // namespace

bool has_tiles(TileType type) {
  switch (type) {
    case TileType::kBFloat16:
    case TileType::kWidened: return has_avx512_bf16();
    case TileType::kBytes: return has_avx512_vnni();
    case TileType::kAmx: return has_amx_bf16();
    case TileType::kFloat32:
    case TileType::kShorts: break;
  }
  return has_avx2();
}

TileType tile_type(bool is_float32) {
  if (is_float32) return TileType::kFloat32;
  if (has_amx_bf16()) return TileType::kAmx;
  return has_fast_avx512_bf16() ? TileType::kBFloat16 : TileType::kWidened;
}

int64_t tile_rows() { return has_avx512() ? kTileRows : kAvx2TileRows; }

void multiply_tile(TileType type, int64_t rows, const uint32_t* a, const uint32_t* b, int64_t units,
                   const TileTarget& target) {
  if (!has_avx512()) return multiply_avx2_tile(type, rows, a, b, units, target);
  kTiles[static_cast<size_t>(type)][static_cast<size_t>(rows - 1)](a, b, units, target);
}

bool has_tile_functions() { return has_avx512(); }

namespace {

HONE_AVX512 void copy_wide_rows(const std::byte* from, int64_t stride, int64_t rows, int64_t bytes,
                                uint32_t* to, int64_t to_stride) {
  const int64_t whole = bytes / 64 * 64;
  const __mmask64 rest = (uint64_t{1} << (bytes - whole)) - 1;
  for (int64_t row = 0; row < rows; ++row, from += stride, to += to_stride) {
    auto* const at = reinterpret_cast<std::byte*>(to);
    for (int64_t i = 0; i < whole; i += 64) _mm512_storeu_si512(at + i, _mm512_loadu_si512(from + i));
    // Rows of a tile have room for a whole vector after the last byte.
    if (rest != 0) _mm512_storeu_si512(at + whole, _mm512_maskz_loadu_epi8(rest, from + whole));
  }
}

}  // namespace

void copy_tile_rows(const std::byte* from, int64_t stride, int64_t rows, int64_t bytes, uint32_t* to,
                    int64_t to_stride) {
  if (has_avx512()) return copy_wide_rows(from, stride, rows, bytes, to, to_stride);
  for (int64_t row = 0; row < rows; ++row, from += stride, to += to_stride) {
    if (bytes % 4 != 0) to[bytes / 4] = 0;
    std::memcpy(to, from, static_cast<size_t>(bytes));
  }
}

HONE_AVX512 void narrow_tile(const float* sums, int64_t stride, int64_t rows, int64_t columns,
                             uint16_t* result, int64_t result_stride) {
  const std::array<__mmask16, 2> masks = masks_of(columns);
  for (int64_t row = 0; row < rows; ++row, sums += stride, result += result_stride) {
    store_result<TileType::kBFloat16>(result, 0, masks[0], _mm512_maskz_loadu_ps(masks[0], sums));
    store_result<TileType::kBFloat16>(result, 16, masks[1], _mm512_maskz_loadu_ps(masks[1], sums + 16));
  }
}

}  // namespace hone::device::cpu
