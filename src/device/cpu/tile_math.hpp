// Tiles of matrix products in the registers of AVX-512, or of AVX2 for some types: rows of the left operand
// times packed columns.
//
//     a: rows x units, copied next to each other        b: units x 32 columns, packed
//     ┌──────────────┐                                  ┌──┬──┐
//     │ one unit of  │  x  two vectors of columns    =  │  │  │  up to 14 rows of sums, which stay in
//     │ a row        │                                  │  │  │  28 registers over all units
//     └──────────────┘                                  └──┴──┘
//
// A unit is what one lane multiplies at a time, in four bytes: one float32, two neighbours of bfloat16 or of
// int16, or four bytes. So all types share one kernel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hone::device::cpu {

/// The most rows of a tile: 28 sums, 2 vectors of columns and 1 of a row make 31 of 32 registers of AVX-512.
inline constexpr int64_t kTileRows = 14;
/// How many fill the registers of this CPU.
int64_t tile_rows();
inline constexpr int64_t kTileColumns = 32;
/// The most units that a tile sums at once, and how far apart rows of `a` lie. It is no multiple of 4 KiB,
/// so that rows do not compete for the same sets of the L1 cache.
inline constexpr int64_t kTileUnits = 512;
inline constexpr int64_t kTileStride = kTileUnits + 16;

/// The number of parts of that size that hold `count`.
constexpr int64_t parts_of(int64_t count, int64_t part) { return (count + part - 1) / part; }

/// The types of operands and of results.
enum class TileType : uint8_t {
  kFloat32,
  kBFloat16,
  /// Rows of float32 times columns of bfloat16, which are widened in registers, with results of bfloat16: for
  /// CPUs that multiply float32 faster. A unit is two neighbours of a column; a row has eight bytes of each.
  kWidened,
  /// Rows of uint8 times columns of int8. Sums and results are int32, and exact as far as they fit.
  kBytes,
  /// Both of int16 with the values of a byte or of differences of two, sums and results as of bytes: for CPUs
  /// without products of bytes.
  kShorts,
  /// Operands as of kBFloat16, in the tile registers of AMX, by multiply_amx_tile() (tile_math_amx.hpp).
  kAmx,
};

/// True if this CPU runs tiles of that type.
bool has_tiles(TileType type);
/// The type for operands in memory of float32, or else of bfloat16, that is the fastest on this CPU.
TileType tile_type(bool is_float32);
/// The most units of that type that a tile sums at once.
constexpr int64_t most_units(TileType type) {
  return type == TileType::kWidened ? kTileUnits / 2 : kTileUnits;
}

/// The start of a tile's sums.
enum class TileStart : uint8_t {
  /// Sums start at the bias.
  kBias,
  /// Sums start at the bias plus the contents of `result`.
  kResult,
  /// At `sums`: earlier units are summed already.
  kSums,
};

/// Functions of sums that are faster in registers than as links after a tile.
enum class TileFunction : uint8_t { kNone, kRelu, kSwish };
/// Whether this CPU has them.
bool has_tile_functions();

/// Where the sums of a tile go.
struct TileTarget {
  /// 1 to 32 columns are there.
  int64_t columns;
  /// A value a column, of the type of sums: float32, or int32 of integers; null for zeros.
  const void* bias;
  TileStart start;
  /// True if sums go to `result` and not to `sums`.
  bool ends;
  /// Sums between calls, `sums_stride` elements a row. May be `result` where that is of their type.
  void* sums;
  int64_t sums_stride;
  /// `result_stride` elements a row.
  void* result;
  int64_t result_stride;
  /// Applied to sums as they go to `result`: on CPUs with AVX-512, to floating-point numbers.
  TileFunction function = TileFunction::kNone;
};

/// One tile of `rows` (1 to 14) and `units` (1 to most_units()) of any type but kAmx: `a` holds rows
/// 4 * kTileStride bytes apart, `b` holds 32 columns a unit.
void multiply_tile(TileType type, int64_t rows, const uint32_t* a, const uint32_t* b, int64_t units,
                   const TileTarget& target);

/// Copies rows of `bytes` bytes, which lie `stride` bytes apart, to rows of a tile `to_stride` units apart,
/// padded with zeros to the end of a unit, and to the end of 16 units on CPUs with AVX-512.
void copy_tile_rows(const std::byte* from, int64_t stride, int64_t rows, int64_t bytes, uint32_t* to,
                    int64_t to_stride = kTileStride);

/// Rounds rows of float32, `stride` apart, to bfloat16 in rows `result_stride` apart, all in elements; 1 to
/// 32 columns. For CPUs that have tiles of kBFloat16.
void narrow_tile(const float* sums, int64_t stride, int64_t rows, int64_t columns, uint16_t* result,
                 int64_t result_stride);

}  // namespace hone::device::cpu
