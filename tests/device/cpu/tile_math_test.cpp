// Tiles of AVX2 against plain loops, on CPUs with AVX-512 too, which run wider ones.
#include <gtest/gtest.h>

#include <vector>

#include "device/cpu/tile_math_avx2.hpp"

namespace hone::device::cpu {
namespace {

/// Small integers, whose sums are exact.
std::vector<float> integers(int64_t count, uint32_t seed) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int>(seed >> 29) - 4);
  }
  return values;
}

struct Operands {
  int64_t rows;
  int64_t columns;
  int64_t units;
  std::vector<float> a = integers(rows * kTileStride, 1);
  std::vector<float> b = integers(units * kTileColumns, 2);
  std::vector<float> bias = integers(columns, 3);
  std::vector<float> before = integers(rows * columns, 4);

  float expected(int64_t row, int64_t column, TileStart start, bool has_bias) const {
    const auto at = [](const std::vector<float>& values, int64_t i) {
      return values[static_cast<size_t>(i)];
    };
    float sum = start == TileStart::kBias ? 0 : at(before, row * columns + column);
    if (has_bias && start != TileStart::kSums) sum += at(bias, column);
    for (int64_t i = 0; i < units; ++i)
      sum += at(a, row * kTileStride + i) * at(b, i * kTileColumns + column);
    return sum;
  }
};

/// The result with a value after the last one, which must stay.
std::vector<float> run(const Operands& operands, TileStart start, bool has_bias, bool ends) {
  std::vector<float> result = operands.before;
  result.push_back(77);
  TileTarget target{};
  target.columns = operands.columns;
  target.bias = has_bias ? operands.bias.data() : nullptr;
  target.start = start;
  target.ends = ends;
  target.sums = target.start == TileStart::kSums || !ends ? result.data() : nullptr;
  target.result = ends || start == TileStart::kResult ? result.data() : nullptr;
  target.sums_stride = target.result_stride = operands.columns;
  multiply_avx2_tile(operands.rows, reinterpret_cast<const uint32_t*>(operands.a.data()),
                     reinterpret_cast<const uint32_t*>(operands.b.data()), operands.units, target);
  return result;
}

void expect_right(const Operands& operands, TileStart start, bool has_bias, bool ends) {
  const std::vector<float> result = run(operands, start, has_bias, ends);
  EXPECT_EQ(result.back(), 77);
  for (int64_t row = 0; row < operands.rows; ++row) {
    for (int64_t column = 0; column < operands.columns; ++column)
      ASSERT_EQ(result[static_cast<size_t>(row * operands.columns + column)],
                operands.expected(row, column, start, has_bias))
          << "row " << row << ", column " << column;
  }
}

TEST(Avx2Tiles, TakeEverySize) {
  if (!has_avx2_tiles()) GTEST_SKIP() << "this CPU has no AVX2";
  for (int64_t rows = 1; rows <= kTileRows; ++rows) {
    for (int64_t columns = 1; columns <= kTileColumns; ++columns) {
      for (const int64_t units : {1, 2, 5, 64}) {
        SCOPED_TRACE(testing::Message() << rows << " x " << units << " x " << columns);
        expect_right({rows, columns, units}, TileStart::kBias, true, true);
      }
    }
  }
}

TEST(Avx2Tiles, BeginAndEndWhereTheyAreTold) {
  if (!has_avx2_tiles()) GTEST_SKIP() << "this CPU has no AVX2";
  for (const int64_t rows : {1, 5, 14}) {
    for (const int64_t columns : {7, 24, 32}) {
      for (const TileStart start : {TileStart::kBias, TileStart::kResult, TileStart::kSums}) {
        for (const bool has_bias : {false, true}) {
          for (const bool ends : {false, true}) {
            SCOPED_TRACE(testing::Message()
                         << rows << " x " << columns << ", start " << static_cast<int>(start) << ", bias "
                         << has_bias << ", ends " << ends);
            expect_right({rows, columns, 33}, start, has_bias, ends);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace hone::device::cpu
