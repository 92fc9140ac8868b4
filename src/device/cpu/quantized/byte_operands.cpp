// See byte_operands.hpp.
#include "device/cpu/quantized/byte_operands.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "device/cpu/clones.hpp"

namespace hone::device::cpu {
namespace {

using tensor::DType;

/// The offset between int8 and uint8.
constexpr int32_t kMiddle = 128;
constexpr uint8_t kFlip = 0x80;

HONE_CLONES void flip(const uint8_t* __restrict from, uint8_t* __restrict to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = from[i] ^ kFlip;
}

/// to[i] = from[i] - zero.
HONE_CLONES void widen(const uint8_t* __restrict from, int32_t zero, int16_t* __restrict to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<int16_t>(from[i] - zero);
}
HONE_CLONES void widen(const int8_t* __restrict from, int32_t zero, int16_t* __restrict to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<int16_t>(from[i] - zero);
}

template <class T>
HONE_INLINE int32_t sum_up(const T* x, int64_t n) {
  int32_t sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  return sum;
}
HONE_CLONES int32_t sum_of(const uint8_t* x, int64_t n) { return sum_up(x, n); }
HONE_CLONES int32_t sum_of(const int16_t* x, int64_t n) { return sum_up(x, n); }

using FourRows = std::array<const uint8_t*, 4>;

/// to[4 c + i] = rows[i][c] ^ flip, and their sums as int8.
HONE_CLONES void interleave(const FourRows& rows, uint8_t flip, uint8_t* __restrict to,
                            int32_t* __restrict sums, int64_t n) {
  const uint8_t* const r0 = rows[0];
  const uint8_t* const r1 = rows[1];
  const uint8_t* const r2 = rows[2];
  const uint8_t* const r3 = rows[3];
  for (int64_t c = 0; c < n; ++c) {
    const auto a = static_cast<uint8_t>(r0[c] ^ flip);
    const auto b = static_cast<uint8_t>(r1[c] ^ flip);
    const auto d = static_cast<uint8_t>(r2[c] ^ flip);
    const auto e = static_cast<uint8_t>(r3[c] ^ flip);
    to[4 * c] = a;
    to[4 * c + 1] = b;
    to[4 * c + 2] = d;
    to[4 * c + 3] = e;
    sums[c] +=
        static_cast<int8_t>(a) + static_cast<int8_t>(b) + static_cast<int8_t>(d) + static_cast<int8_t>(e);
  }
}

/// Columns of int8 next to each other, four rows at a time.
void pack_rows(const ByteMatrix& matrix, int64_t column, int64_t count, uint32_t* to, int32_t* sums) {
  const uint8_t flip = matrix.dtype == DType::kUInt8 ? kFlip : 0;
  // Rows beyond the last one are zeros, once flipped.
  std::array<uint8_t, kTileColumns> none;
  none.fill(flip);
  const auto* const first = static_cast<const uint8_t*>(matrix.data) + column;
  for (int64_t k = 0; k < matrix.inner; k += 4, to += kTileColumns) {
    FourRows rows;
    for (int64_t i = 0; i < 4; ++i)
      rows[static_cast<size_t>(i)] = k + i < matrix.inner ? first + (k + i) * matrix.stride : none.data();
    interleave(rows, flip, reinterpret_cast<uint8_t*>(to), sums, count);
  }
}

template <class From, class To>
void pack_elements(const ByteMatrix& matrix, int64_t column, int64_t count, int32_t shift, To* to,
                   int32_t* sums) {
  constexpr int64_t kPerUnit = 4 / static_cast<int64_t>(sizeof(To));
  const auto* const from = static_cast<const From*>(matrix.data) + column * matrix.column_stride;
  for (int64_t c = 0; c < count; ++c) {
    for (int64_t k = 0; k < matrix.inner; ++k) {
      const int64_t at = k / matrix.run * matrix.run_stride + k % matrix.run * matrix.stride;
      const auto value = static_cast<To>(from[c * matrix.column_stride + at] - shift);
      to[(k / kPerUnit * kTileColumns + c) * kPerUnit + k % kPerUnit] = value;
      sums[c] += value;
    }
  }
}

}  // namespace

TileType byte_tile_type() { return has_tiles(TileType::kBytes) ? TileType::kBytes : TileType::kShorts; }

int32_t ByteRows::shift() const {
  if (type == TileType::kShorts) return 0;
  return zero + (dtype == DType::kInt8 ? kMiddle : 0);
}

void ByteRows::copy(const void* from, int64_t stride, int64_t n, std::byte* to) const {
  const auto* const bytes = static_cast<const uint8_t*>(from);
  if (stride != 1) {
    for (int64_t i = 0; i < n; ++i) copy(bytes + i * stride, 1, 1, to + i * width());
  } else if (type == TileType::kShorts) {
    auto* const shorts = reinterpret_cast<int16_t*>(to);
    if (dtype == DType::kUInt8) {
      widen(bytes, zero, shorts, n);
    } else {
      widen(static_cast<const int8_t*>(from), zero, shorts, n);
    }
  } else if (dtype == DType::kUInt8) {
    std::memcpy(to, from, static_cast<size_t>(n));
  } else {
    flip(bytes, reinterpret_cast<uint8_t*>(to), n);
  }
}

void ByteRows::fill(int64_t n, std::byte* to) const {
  const int value = type == TileType::kShorts ? 0 : shift();
  std::memset(to, value, static_cast<size_t>(n * width()));
}

int32_t ByteRows::sum(const uint32_t* row, int64_t n) const {
  if (type == TileType::kShorts) return sum_of(reinterpret_cast<const int16_t*>(row), n);
  return sum_of(reinterpret_cast<const uint8_t*>(row), n);
}

int32_t column_shift(TileType type, DType dtype, int32_t zero) {
  return type == TileType::kBytes && dtype == DType::kUInt8 ? zero - kMiddle : zero;
}

void pack_byte_panel(TileType type, const ByteMatrix& matrix, int64_t column, uint32_t* to, int32_t* sums) {
  const int64_t count = std::min(matrix.columns - column, kTileColumns);
  const int64_t units = parts_of(matrix.inner, bytes_per_unit(type));
  std::fill_n(sums, kTileColumns, 0);
  if (count < kTileColumns || matrix.inner % bytes_per_unit(type) != 0)
    std::fill_n(to, units * kTileColumns, uint32_t{0});
  const bool is_signed = matrix.dtype == DType::kInt8;
  if (type == TileType::kShorts) {
    auto* const shorts = reinterpret_cast<int16_t*>(to);
    if (is_signed) {
      pack_elements<int8_t>(matrix, column, count, 0, shorts, sums);
    } else {
      pack_elements<uint8_t>(matrix, column, count, 0, shorts, sums);
    }
  } else if (matrix.column_stride == 1 && matrix.run == matrix.inner) {
    pack_rows(matrix, column, count, to, sums);
  } else if (is_signed) {
    pack_elements<int8_t>(matrix, column, count, 0, reinterpret_cast<int8_t*>(to), sums);
  } else {
    pack_elements<uint8_t>(matrix, column, count, kMiddle, reinterpret_cast<int8_t*>(to), sums);
  }
}

}  // namespace hone::device::cpu
