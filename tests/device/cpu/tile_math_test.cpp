// Tiles against plain loops: those that the CPU runs, and those of AVX2 on CPUs with AVX-512 too, which run
// wider ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "device/cpu/instructions.hpp"
#include "device/cpu/tile_math_amx.hpp"
#include "device/cpu/tile_math_avx2.hpp"
#include "tensor/float_types.hpp"

namespace hone::device::cpu {
namespace {

using tensor::BFloat16;

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
  multiply_avx2_tile(TileType::kFloat32, operands.rows, reinterpret_cast<const uint32_t*>(operands.a.data()),
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
  if (!has_avx2()) GTEST_SKIP() << "this CPU has no AVX2";
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
  if (!has_avx2()) GTEST_SKIP() << "this CPU has no AVX2";
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

/// Products of integers: the elements of a unit of a row and of a column, and what they sum to.
template <class Left, class Right>
struct IntegerTile {
  int64_t rows;
  int64_t columns;
  int64_t units;
  TileStart start = TileStart::kBias;
  static constexpr int64_t kPerUnit = 4 / static_cast<int64_t>(sizeof(Left));

  /// `multiply` writes the result of the tile, which has a value after the last one.
  template <class Multiply>
  void expect_exact(Multiply&& multiply) const {
    const std::vector<Left> a = numbers<Left>(rows * kTileStride * kPerUnit, 5);
    const std::vector<Right> b = numbers<Right>(units * kTileColumns * kPerUnit, 6);
    const std::vector<int16_t> bias = numbers<int16_t>(columns, 7);
    const std::vector<int32_t> starts(bias.begin(), bias.end());
    const std::vector<int16_t> before = numbers<int16_t>(rows * columns, 8);
    std::vector<int32_t> result(before.begin(), before.end());
    result.push_back(77);
    TileTarget target{};
    target.columns = columns;
    target.bias = starts.data();
    target.start = start;
    target.ends = true;
    target.sums = target.result = result.data();
    target.sums_stride = target.result_stride = columns;
    multiply(reinterpret_cast<const uint32_t*>(a.data()), reinterpret_cast<const uint32_t*>(b.data()),
             target);
    EXPECT_EQ(result.back(), 77);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        const auto at = static_cast<size_t>(row * columns + column);
        int32_t sum = start == TileStart::kBias ? 0 : before[at];
        if (start != TileStart::kSums) sum += starts[static_cast<size_t>(column)];
        for (int64_t k = 0; k < units * kPerUnit; ++k) {
          const int64_t from = (k / kPerUnit * kTileColumns + column) * kPerUnit + k % kPerUnit;
          sum += a[static_cast<size_t>(row * kTileStride * kPerUnit + k)] * b[static_cast<size_t>(from)];
        }
        ASSERT_EQ(result[at], sum) << "row " << row << ", column " << column;
      }
    }
  }

 private:
  /// Up to the ends of a byte's range, and of what differences of two take.
  template <class T>
  static std::vector<T> numbers(int64_t count, uint32_t seed) {
    std::vector<T> values(static_cast<size_t>(count));
    for (T& value : values) {
      seed = seed * 1664525u + 1013904223u;
      const auto byte = static_cast<int>(seed >> 24);
      const int end = seed % 3 == 0 ? 255 : byte;
      value = static_cast<T>(sizeof(T) == 2 && seed % 2 == 0 ? -end : end);
    }
    return values;
  }
};

template <class Left, class Right, class Multiply>
void expect_integer_tiles(Multiply&& multiply) {
  for (int64_t rows = 1; rows <= kTileRows; ++rows) {
    for (const int64_t columns : {1, 7, 8, 15, 16, 17, 31, 32}) {
      for (const int64_t units : {1, 2, 5, 64}) {
        for (const TileStart start : {TileStart::kBias, TileStart::kResult, TileStart::kSums}) {
          SCOPED_TRACE(testing::Message() << rows << " x " << units << " x " << columns << ", start "
                                          << static_cast<int>(start));
          IntegerTile<Left, Right>{rows, columns, units, start}.expect_exact(
              [&](const uint32_t* a, const uint32_t* b, const TileTarget& target) {
                multiply(rows, a, b, units, target);
              });
        }
      }
    }
  }
}

TEST(IntegerTiles, MultiplyBytesExactly) {
  if (!has_tiles(TileType::kBytes)) GTEST_SKIP() << "this CPU has no VNNI";
  expect_integer_tiles<uint8_t, int8_t>([](auto... given) { multiply_tile(TileType::kBytes, given...); });
}

TEST(IntegerTiles, MultiplyShortsExactly) {
  if (!has_tiles(TileType::kShorts)) GTEST_SKIP() << "this CPU has no AVX2";
  expect_integer_tiles<int16_t, int16_t>([](auto... given) { multiply_tile(TileType::kShorts, given...); });
  expect_integer_tiles<int16_t, int16_t>(
      [](auto... given) { multiply_avx2_tile(TileType::kShorts, given...); });
}

TEST(WidenedTiles, MultiplyColumnsOfBfloat16) {
  if (!has_tiles(TileType::kWidened)) GTEST_SKIP() << "this CPU has no bf16 instructions";
  for (int64_t rows = 1; rows <= kTileRows; ++rows) {
    for (const int64_t columns : {1, 15, 16, 17, 32}) {
      for (const int64_t units : {1, 2, 5, 64}) {
        SCOPED_TRACE(testing::Message() << rows << " x " << units << " x " << columns);
        const std::vector<float> a = integers(rows * kTileStride, 1);
        const std::vector<float> values = integers(2 * units * kTileColumns, 2);
        const std::vector<BFloat16> b(values.begin(), values.end());
        const std::vector<float> bias = integers(columns, 3);
        const auto count = static_cast<size_t>(rows * columns);
        std::vector<float> sums(count + 1, 77);
        std::vector<BFloat16> result(count + 1, BFloat16(77.0f));
        for (const bool ends : {false, true}) {
          multiply_tile(
              TileType::kWidened, rows, reinterpret_cast<const uint32_t*>(a.data()),
              reinterpret_cast<const uint32_t*>(b.data()), units,
              {columns, bias.data(), TileStart::kBias, ends, sums.data(), columns, result.data(), columns});
        }
        EXPECT_EQ(sums.back(), 77);
        EXPECT_EQ(static_cast<float>(result.back()), 77);
        for (int64_t row = 0; row < rows; ++row) {
          for (int64_t column = 0; column < columns; ++column) {
            float sum = bias[static_cast<size_t>(column)];
            for (int64_t k = 0; k < 2 * units; ++k)
              sum += a[static_cast<size_t>(row * kTileStride + k)] *
                     values[static_cast<size_t>((k / 2 * kTileColumns + column) * 2 + k % 2)];
            const auto at = static_cast<size_t>(row * columns + column);
            ASSERT_EQ(sums[at], sum) << "row " << row << ", column " << column;
            ASSERT_EQ(static_cast<float>(result[at]), static_cast<float>(BFloat16(sum)));
          }
        }
      }
    }
  }
}

/// A product of bfloat16 in the registers of AMX, with rows behind the last one that are no numbers.
struct AmxTile {
  int64_t rows;
  int64_t columns;
  int64_t units;
  std::vector<float> a = integers(rows * 2 * units, 1);
  std::vector<float> b = integers(2 * units * kTileColumns, 2);
  std::vector<float> bias = integers(columns, 3);
  std::vector<float> before = integers(rows * columns, 4);

  float expected(int64_t row, int64_t column, TileStart start, TileFunction function) const {
    float sum = start == TileStart::kBias ? 0 : before[static_cast<size_t>(row * columns + column)];
    if (start != TileStart::kSums) sum += bias[static_cast<size_t>(column)];
    for (int64_t k = 0; k < 2 * units; ++k)
      sum += a[static_cast<size_t>(row * 2 * units + k)] *
             b[static_cast<size_t>((k / 2 * kTileColumns + column) * 2 + k % 2)];
    return function == TileFunction::kRelu ? std::max(sum, 0.0f) : sum;
  }

  void expect_exact(TileStart start, bool ends, TileFunction function) const {
    std::vector<BFloat16> left(a.begin(), a.end());
    left.resize(static_cast<size_t>(kAmxTileRows * 2 * units),
                BFloat16(std::numeric_limits<float>::quiet_NaN()));
    const std::vector<BFloat16> right(b.begin(), b.end());
    std::vector<float> sums = before;
    std::vector<BFloat16> result(before.begin(), before.end());
    sums.push_back(77);
    result.emplace_back(77.0f);
    const AmxRegisters registers(true);
    multiply_amx_tile(
        rows,
        {reinterpret_cast<const uint32_t*>(left.data()), units,
         reinterpret_cast<const uint32_t*>(right.data()), units},
        {columns, bias.data(), start, ends, sums.data(), columns, result.data(), columns, function});
    EXPECT_EQ(sums.back(), 77);
    EXPECT_EQ(static_cast<float>(result.back()), 77);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        const auto at = static_cast<size_t>(row * columns + column);
        const float sum = expected(row, column, start, ends ? function : TileFunction::kNone);
        ASSERT_EQ(ends ? static_cast<float>(result[at]) : sums[at],
                  ends ? static_cast<float>(BFloat16(sum)) : sum)
            << "row " << row << ", column " << column;
      }
    }
  }
};

TEST(AmxTiles, TakeEverySize) {
  if (!has_tiles(TileType::kAmx)) GTEST_SKIP() << "this CPU has no AMX";
  for (int64_t rows = 1; rows <= kAmxTileRows; ++rows) {
    for (const int64_t columns : {1, 15, 16, 17, 32}) {
      for (const int64_t units : {16, 32, 80}) {
        SCOPED_TRACE(testing::Message() << rows << " x " << units << " x " << columns);
        AmxTile{rows, columns, units}.expect_exact(TileStart::kBias, true, TileFunction::kNone);
      }
    }
  }
}

TEST(AmxTiles, BeginAndEndWhereTheyAreTold) {
  if (!has_tiles(TileType::kAmx)) GTEST_SKIP() << "this CPU has no AMX";
  for (const int64_t rows : {5, 16, 27}) {
    for (const TileStart start : {TileStart::kBias, TileStart::kResult, TileStart::kSums}) {
      for (const bool ends : {false, true}) {
        for (const TileFunction function : {TileFunction::kNone, TileFunction::kRelu}) {
          SCOPED_TRACE(testing::Message()
                       << rows << " rows, start " << static_cast<int>(start) << ", ends " << ends);
          AmxTile{rows, 24, 32}.expect_exact(start, ends, function);
        }
      }
    }
  }
}

}  // namespace
}  // namespace hone::device::cpu
