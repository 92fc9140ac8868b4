// Resizes as tables: what they read, summed up here, is what the reference gives.
#include "device/cuda/plugin/tactics/resize_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "one_node.hpp"

namespace hone::device::cuda {
namespace {

using test_support::GraphBuilder;
using test_support::one_node;
using test_support::OneNode;
using test_support::Shape;
using test_support::Tensor;
using test_support::ValueId;

/// The result of one axis' table on rows of `inner` values each; NaN marks the extrapolation value.
std::vector<double> resized(const std::vector<double>& x, const ResizeTable& table, int64_t outer,
                            int64_t inner) {
  if (table.stays()) return x;
  const auto positions = table.positions.values<int32_t>();
  const auto weights = table.weights.values<float>();
  std::vector<double> y;
  for (int64_t i = 0; i < outer; ++i) {
    for (int64_t o = 0; o < table.output; ++o) {
      for (int64_t j = 0; j < inner; ++j) {
        double sum = 0;
        for (int t = 0; t < table.taps; ++t) {
          const auto at = static_cast<size_t>(o * table.taps + t);
          sum += positions[at] < 0
                     ? std::nan("")
                     : weights[at] * x[static_cast<size_t>((i * table.input + positions[at]) * inner + j)];
        }
        y.push_back(sum);
      }
    }
  }
  return y;
}

ResizeTables tables_of(const OneNode& checked) { return checked.asked(resize_tables); }

void expect_right(const OneNode& checked) {
  const ResizeTables tables = tables_of(checked);
  ASSERT_EQ(tables.refusal.text(), "");
  Shape shape = checked.input.shape();
  ASSERT_EQ(tables.axes.size(), shape.size() - 2);
  std::vector<double> values = checked.input.to_double();
  for (size_t k = 2; k < shape.size(); ++k) {
    const auto begin = shape.begin();
    const auto axis = begin + static_cast<std::ptrdiff_t>(k);
    ASSERT_EQ(tables.axes[k - 2].input, *axis);
    values = resized(values, tables.axes[k - 2], tensor::element_count(Shape(begin, axis)),
                     tensor::element_count(Shape(axis + 1, shape.end())));
    *axis = tables.axes[k - 2].output;
  }
  const std::vector<double> expected = checked.expected()[0].to_double();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    // A few products of weights that were rounded to float.
    EXPECT_NEAR(std::isnan(values[i]) ? tables.extrapolation : values[i], expected[i], 1e-6) << i;
  }
}

class ResizeTableTest : public testing::Test {
 protected:
  static constexpr ValueId kNone = graph::kNoValue;
  OneNode made(const Shape& shape, const std::vector<ValueId>& inputs,
               const hone::test::AttributeList& attributes) {
    return one_node(builder_, shape, "Resize", inputs, attributes);
  }
  ValueId floats(const std::vector<float>& values) {
    return builder_.constant(Tensor::of<float>(values, {static_cast<int64_t>(values.size())}));
  }

  GraphBuilder builder_;
};

TEST_F(ResizeTableTest, TakesNearestNeighbours) {
  expect_right(made({2, 3, 4, 5}, {kNone, floats({1, 1, 2, 3})}, {{"mode", std::string("nearest")}}));
}

TEST_F(ResizeTableTest, InterpolatesOneAxisOfTwo) {
  expect_right(
      made({2, 3, 4, 5}, {kNone, kNone, builder_.ints({2, 3, 4, 9})}, {{"mode", std::string("linear")}}));
}

TEST_F(ResizeTableTest, InterpolatesVolumesAndLines) {
  expect_right(
      made({1, 2, 3, 4, 5}, {kNone, floats({1, 1, 2, 0.5f, 1.5f})}, {{"mode", std::string("linear")}}));
}

TEST_F(ResizeTableTest, InterpolatesByCubesAndAntialiases) {
  expect_right(made({1, 2, 8, 9}, {kNone, floats({1, 1, 0.6f, 0.4f})},
                    {{"mode", std::string("cubic")}, {"antialias", int64_t{1}}}));
}

TEST_F(ResizeTableTest, ExtrapolatesOutsideOfTheRegion) {
  expect_right(made({1, 1, 4, 4},
                    {floats({0, 0, 0.4f, 0.6f, 1, 1, 1.2f, 1.7f}), kNone, builder_.ints({1, 1, 3, 3})},
                    {{"mode", std::string("linear")},
                     {"coordinate_transformation_mode", std::string("tf_crop_and_resize")},
                     {"extrapolation_value", 10.0f}}));
}

TEST_F(ResizeTableTest, IsRefusedWhereChannelsAreResized) {
  const OneNode checked =
      made({1, 2, 4, 4}, {kNone, floats({1, 2, 1, 1})}, {{"mode", std::string("nearest")}});
  EXPECT_EQ(tables_of(checked).refusal.text(), "batch or channels are resized");
}

TEST_F(ResizeTableTest, IsRefusedForMatrices) {
  const OneNode checked = made({4, 4}, {kNone, floats({2, 2})}, {{"mode", std::string("nearest")}});
  EXPECT_EQ(tables_of(checked).refusal.text(), "only images");
}

}  // namespace
}  // namespace hone::device::cuda
