// The operands of a product of bytes in the form of tiles (tile_math.hpp), in which zero points are left for
// the end: with a = a' - za and b = b' - zb
//
//     sum(a b) = sum(a' b') - zb sum(a') - za sum(b') + n za zb
//
// Where the CPU multiplies bytes, rows are uint8 and columns int8, whatever the types of the operands: the
// other type is moved by 128, and its zero point with it. Elsewhere both are int16, rows less their zero
// point.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cpu/tile_math.hpp"
#include "tensor/dtype.hpp"

namespace hone::device::cpu {

/// The tile type for bytes of this CPU, kBytes or kShorts; has_tiles() says whether it has it.
TileType byte_tile_type();
/// Elements of a unit.
constexpr int64_t bytes_per_unit(TileType type) { return type == TileType::kBytes ? 4 : 2; }

/// How rows are copied.
struct ByteRows {
  TileType type;
  tensor::DType dtype;
  /// The operand's zero point.
  int32_t zero;

  int64_t width() const { return type == TileType::kBytes ? 1 : 2; }
  /// `za` above.
  int32_t shift() const;
  /// Element `index` of a row.
  std::byte* at(uint32_t* row, int64_t index) const {
    return reinterpret_cast<std::byte*>(row) + index * width();
  }
  /// Writes `n` elements that lie `stride` apart.
  void copy(const void* from, int64_t stride, int64_t n, std::byte* to) const;
  /// Writes `n` elements that count as zero.
  void fill(int64_t n, std::byte* to) const;
  /// The sum of `n` elements.
  int32_t sum(const uint32_t* row, int64_t n) const;
};

/// A matrix of inner x columns. Columns lie `column_stride` apart, and of each runs of `run` elements lie
/// `run_stride` apart, in which elements lie `stride` apart.
struct ByteMatrix {
  const void* data;
  tensor::DType dtype;
  int64_t inner;
  int64_t columns;
  int64_t column_stride;
  int64_t run;
  int64_t run_stride;
  int64_t stride;
};

/// `zb` above, for a zero point of the second operand.
int32_t column_shift(TileType type, tensor::DType dtype, int32_t zero);
/// Writes one panel, the 32 columns from `column` on, and the sums of each. `to` has room for whole units.
void pack_byte_panel(TileType type, const ByteMatrix& matrix, int64_t column, uint32_t* to, int32_t* sums);

}  // namespace hone::device::cpu
