// Operators as strided views of their input: what a view reads is what the reference gives.
#include "device/cuda/plugin/tactics/node_views.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "one_node.hpp"

namespace hone::device::cuda {
namespace {

using test_support::GraphBuilder;
using test_support::one_node;
using test_support::OneNode;
using test_support::Shape;
using test_support::Tensor;
using test_support::ValueId;

std::vector<float> read(const StridedView& view, const Tensor& from) {
  const auto values = from.values<float>();
  std::vector<float> result;
  std::vector<int64_t> at(view.sizes.size(), 0);
  for (int64_t left = tensor::element_count(view.sizes); left > 0; --left) {
    int64_t index = view.offset;
    for (size_t d = 0; d < at.size(); ++d) index += at[d] * view.strides[d];
    result.push_back(values[static_cast<size_t>(index)]);
    for (size_t d = at.size(); d-- > 0 && ++at[d] == view.sizes[d];) at[d] = 0;
  }
  return result;
}

NodeViews views_of(const OneNode& checked) { return checked.asked(node_views); }

void expect_reads(const NodeViews& found, const Tensor& input, const std::vector<Tensor>& expected) {
  ASSERT_EQ(found.refusal.text(), "");
  ASSERT_EQ(found.outputs.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_THAT(read(found.outputs[i], input), testing::ElementsAreArray(expected[i].values<float>())) << i;
}

/// [N, C, …] with the channels behind the rest.
Tensor channels_last(const Tensor& plain) {
  StridedView view{plain.shape(), tensor::row_major_strides(plain.shape()), 0};
  for (auto* dimensions : {&view.sizes, &view.strides})
    std::rotate(dimensions->begin() + 1, dimensions->begin() + 2, dimensions->end());
  return Tensor::of<float>(read(view, plain), view.sizes);
}

void expect_right(const OneNode& checked) {
  expect_reads(views_of(checked), checked.input, checked.expected());
}

/// Checks images that lie channels-last.
void expect_right_channels_last(const OneNode& checked) {
  const NodeViews found = checked.asked(node_views, engine::Layout::kChannelsLast);
  EXPECT_EQ(found.layout, engine::Layout::kChannelsLast);
  std::vector<Tensor> expected = checked.expected();
  std::transform(expected.begin(), expected.end(), expected.begin(), channels_last);
  expect_reads(found, channels_last(checked.input), expected);
}

class NodeView : public testing::Test {
 protected:
  OneNode made(const Shape& shape, const std::string& op, const std::vector<ValueId>& constants,
               const hone::test::AttributeList& attributes = {}, int outputs = 1) {
    return one_node(builder_, shape, op, constants, attributes, outputs);
  }
  ValueId ints(const std::vector<int64_t>& values) { return builder_.ints(values); }

  GraphBuilder builder_;
};

TEST_F(NodeView, SlicesForwardsAndBackwards) {
  expect_right(
      made({4, 5, 6}, "Slice", {ints({-1, 1}), ints({INT64_MIN, -1}), ints({-1, 0}), ints({-2, 2})}));
}

TEST_F(NodeView, SlicesWithoutAxesOrSteps) {
  expect_right(made({4, 5, 6}, "Slice", {ints({1, -9}), ints({99, 3})}));
}

TEST_F(NodeView, SlicesInStepsBeyondTheAxis) {
  expect_right(made({4, 5}, "Slice",
                    {ints({9, 0}), ints({INT64_MIN, 5}), ints({0, 1}), ints({INT64_MIN, INT64_MAX})}));
}

TEST_F(NodeView, SplitsIntoUnequalParts) {
  expect_right(made({2, 7, 3}, "Split", {ints({1, 4, 2})}, {{"axis", int64_t{-2}}}, 3));
}

TEST_F(NodeView, ExpandsAheadAndInBetween) { expect_right(made({3, 1, 2}, "Expand", {ints({2, 1, 4, 1})})); }

TEST_F(NodeView, Tiles) { expect_right(made({2, 1, 3}, "Tile", {ints({3, 2, 2})})); }

TEST_F(NodeView, TilesOnce) { expect_right(made({4, 5}, "Tile", {ints({1, 1})})); }

TEST_F(NodeView, IsRefusedWhereNothingIsTiled) {
  EXPECT_EQ(views_of(made({4, 5}, "Tile", {ints({1, 0})})).refusal.text(), "an output is empty");
}

TEST_F(NodeView, BringsDepthToSpaceInBothOrders) {
  expect_right(made({2, 18, 2, 4}, "DepthToSpace", {}, {{"blocksize", int64_t{3}}}));
}

TEST_F(NodeView, BringsDepthToSpaceColumnsFirst) {
  expect_right(
      made({2, 18, 2, 4}, "DepthToSpace", {}, {{"blocksize", int64_t{3}}, {"mode", std::string("CRD")}}));
}

TEST_F(NodeView, BringsSpaceToDepth) {
  expect_right(made({2, 3, 4, 6}, "SpaceToDepth", {}, {{"blocksize", int64_t{2}}}));
}

using NodeViewChannelsLast = NodeView;

TEST_F(NodeViewChannelsLast, BringsDepthToSpace) {
  expect_right_channels_last(made({2, 18, 2, 4}, "DepthToSpace", {}, {{"blocksize", int64_t{3}}}));
}

TEST_F(NodeViewChannelsLast, BringsDepthToSpaceColumnsFirst) {
  expect_right_channels_last(
      made({2, 18, 2, 4}, "DepthToSpace", {}, {{"blocksize", int64_t{3}}, {"mode", std::string("CRD")}}));
}

TEST_F(NodeViewChannelsLast, BringsSpaceToDepth) {
  expect_right_channels_last(made({2, 3, 4, 6}, "SpaceToDepth", {}, {{"blocksize", int64_t{2}}}));
}

TEST_F(NodeViewChannelsLast, Slices) {
  expect_right_channels_last(made(
      {2, 5, 4, 6}, "Slice", {ints({-1, 1, 0}), ints({INT64_MIN, 4, 9}), ints({1, 2, 3}), ints({-2, 1, 2})}));
}

TEST_F(NodeViewChannelsLast, SplitsChannels) {
  expect_right_channels_last(made({2, 7, 3, 4}, "Split", {ints({1, 4, 2})}, {{"axis", int64_t{1}}}, 3));
}

TEST_F(NodeViewChannelsLast, SplitsWidths) {
  expect_right_channels_last(made({2, 3, 7}, "Split", {ints({5, 2})}, {{"axis", int64_t{-1}}}, 2));
}

TEST_F(NodeView, IsRefusedForEmptyOutputs) {
  EXPECT_EQ(views_of(made({4, 5}, "Slice", {ints({3}), ints({3}), ints({0}), ints({-1})})).refusal.text(),
            "an output is empty");
}

TEST_F(NodeView, IsRefusedWhereItDependsOnTheInputs) {
  const ValueId starts = builder_.input("starts", {1}, graph::DType::kInt64);
  OneNode checked = made({4, 5}, "Slice", {starts, ints({3}), ints({0})});
  // As if the length were known.
  checked.graph.value(checked.graph.outputs[0]).type.dims = graph::Dims{2, 5};
  EXPECT_EQ(views_of(checked).refusal.text(), "starts, axes or steps are computed");
}

TEST(AxesLast, LieBehindTheOthers) {
  using testing::ElementsAre;
  const StridedView view = axes_last({2, 3, 4, 5}, {2, 0});
  EXPECT_THAT(view.sizes, ElementsAre(3, 5, 2, 4));
  EXPECT_THAT(view.strides, ElementsAre(20, 1, 60, 5));
}

TEST(MiddleAxes, LieAroundOneAxis) {
  const auto parts = [](size_t axis) {
    const MiddleAxes found = around_axis({2, 3, 4, 5}, axis);
    return std::vector<int64_t>{found.outer, found.axis, found.inner};
  };
  using testing::ElementsAre;
  EXPECT_THAT(parts(0), ElementsAre(1, 2, 60));
  EXPECT_THAT(parts(2), ElementsAre(6, 4, 5));
  EXPECT_THAT(parts(3), ElementsAre(24, 5, 1));
}

TEST(MiddleAxes, AreOuterAxisAndInner) {
  const auto parts = [](const Shape& shape, const std::vector<int64_t>& axes) {
    const auto found = middle_axes(shape, axes);
    return found ? std::vector<int64_t>{found->outer, found->axis, found->inner} : std::vector<int64_t>{};
  };
  using testing::ElementsAre;
  EXPECT_THAT(parts({2, 3, 4, 5}, {1, 2}), ElementsAre(2, 12, 5));
  EXPECT_THAT(parts({2, 3, 4, 5}, {3, 2}), ElementsAre(6, 20, 1));
  EXPECT_THAT(parts({2, 3, 1, 5}, {3, 1}), ElementsAre(2, 15, 1)) << "one element between them is none";
  EXPECT_THAT(parts({2, 3, 4, 5}, {0, 1, 2, 3}), ElementsAre(1, 120, 1));
  EXPECT_THAT(parts({2, 3}, {}), ElementsAre(6, 1, 1));
  EXPECT_THAT(parts({}, {}), ElementsAre(1, 1, 1));
  EXPECT_TRUE(parts({2, 3, 4, 5}, {1, 3}).empty());
}

}  // namespace
}  // namespace hone::device::cuda
