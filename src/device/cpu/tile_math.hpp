// Tiles of matrix products in the registers of AVX-512, or of AVX2 for float32: rows of the left operand
// times packed columns.
//
//     a: rows x units, copied next to each other        b: units x 32 columns, packed
//     ┌──────────────┐                                  ┌──┬──┐
//     │ one unit of  │  x  two vectors of columns    =  │  │  │  up to 14 rows of sums, which stay in
//     │ a row        │                                  │  │  │  28 registers over all units
//     └──────────────┘                                  └──┴──┘
//
// A unit is what one lane multiplies at a time, in four bytes: one float32 or two neighbours of bfloat16. So
// both types share one kernel.
#pragma once

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

/// How many parts of that size hold so many.
constexpr int64_t parts_of(int64_t count, int64_t part) { return (count + part - 1) / part; }

/// The types of operands and of results.
enum class TileType : uint8_t { kFloat32, kBFloat16 };

/// Whether this CPU runs tiles of that type.
bool has_tiles(TileType type);

/// Where a tile's sums begin.
enum class TileStart : uint8_t {
  /// At the bias.
  kBias,
  /// At the bias and what `result` holds.
  kResult,
  /// At `sums`: earlier units are summed already.
  kSums,
};

/// Where the sums of a tile go.
struct TileTarget {
  /// 1 to 32 columns are there.
  int64_t columns;
  /// A value a column, in float32; null for zeros.
  const float* bias;
  TileStart start;
  /// Whether sums go to `result` and not to `sums`.
  bool ends;
  /// Sums in float32 between calls, `sums_stride` elements a row. May be `result` where that is of float32.
  float* sums;
  int64_t sums_stride;
  /// `result_stride` elements a row.
  void* result;
  int64_t result_stride;
};

/// One tile of `rows` (1 to 14) and `units` (1 to kTileUnits): `a` holds rows kTileStride units apart, `b`
/// holds 32 columns a unit.
void multiply_tile(TileType type, int64_t rows, const uint32_t* a, const uint32_t* b, int64_t units,
                   const TileTarget& target);

}  // namespace hone::device::cpu
