// Pads as pad() takes them: what such a pad reads is what the reference gives.
#include "device/cuda/plugin/tactics/node_pads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "one_node.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using test_support::GraphBuilder;
using test_support::one_node;
using test_support::OneNode;
using test_support::Shape;
using test_support::Tensor;
using test_support::ValueId;

NodePads pads_of(const OneNode& checked, Layout layout = Layout::kPlain) {
  return checked.asked([&](const engine::StepRequest& request) {
    return node_pads(request, tensor::DType::kFloat32, layout);
  });
}

/// Constant pads of a plain input.
std::vector<float> padded(const NodePads& pads, const Tensor& from) {
  const Shape strides = tensor::row_major_strides(pads.sizes);
  float value = 0;
  std::memcpy(&value, pads.value.data(), sizeof value);
  std::vector<float> result;
  for (int64_t i = 0; i < tensor::element_count(pads.output); ++i) {
    int64_t rest = i;
    int64_t at = 0;
    bool inside = true;
    for (size_t d = pads.sizes.size(); d-- > 0; rest /= pads.output[d]) {
      const int64_t position = rest % pads.output[d] - pads.begin[d];
      inside = inside && position >= 0 && position < pads.sizes[d];
      at += position * strides[d];
    }
    result.push_back(inside ? from.values<float>()[static_cast<size_t>(at)] : value);
  }
  return result;
}

void expect_right(const OneNode& checked) {
  const NodePads found = pads_of(checked);
  ASSERT_EQ(found.refusal.text(), "");
  const std::vector<Tensor> expected = checked.expected();
  EXPECT_THAT(padded(found, checked.input), testing::ElementsAreArray(expected[0].values<float>()));
}

class NodePad : public testing::Test {
 protected:
  OneNode made(const Shape& shape, const std::vector<ValueId>& constants,
               const std::string& mode = "constant") {
    return one_node(builder_, shape, "Pad", constants, {{"mode", mode}});
  }
  ValueId ints(const std::vector<int64_t>& values) { return builder_.ints(values); }

  GraphBuilder builder_;
};

TEST_F(NodePad, SurroundsWithZeros) { expect_right(made({2, 3, 4}, {ints({1, 0, 2, 0, 3, 1})})); }

TEST_F(NodePad, SurroundsWithAValueAndCrops) {
  expect_right(made({2, 3, 4}, {ints({1, -1, 2, 0, 3, -2}), builder_.scalar(7)}));
}

TEST_F(NodePad, TakesAxesInAnyOrder) {
  expect_right(made({2, 3, 4}, {ints({2, 1, -1, 3}), graph::kNoValue, ints({-1, 0})}));
}

TEST_F(NodePad, KnowsItsModes) {
  const std::pair<const char*, PadMode> modes[] = {
      {"edge", PadMode::kEdge}, {"reflect", PadMode::kReflect}, {"wrap", PadMode::kWrap}};
  for (const auto& [name, mode] : modes) {
    GraphBuilder builder;
    const OneNode checked =
        one_node(builder, {3, 4}, "Pad", {builder.ints({1, 1, 1, 1})}, {{"mode", std::string(name)}});
    EXPECT_EQ(pads_of(checked).mode, mode) << name;
  }
}

TEST_F(NodePad, CountsAxesInTheOrderOfTheMemory) {
  const NodePads found = pads_of(made({2, 3, 4, 5}, {ints({0, 1, 2, 3, 0, 0, 4, 5})}), Layout::kChannelsLast);
  using testing::ElementsAre;
  EXPECT_THAT(found.sizes, ElementsAre(2, 4, 5, 3));
  EXPECT_THAT(found.begin, ElementsAre(0, 2, 3, 1));
  EXPECT_THAT(found.output, ElementsAre(2, 10, 13, 4));
}

TEST_F(NodePad, IsRefusedWhereItIsEmpty) {
  EXPECT_EQ(pads_of(made({2, 3}, {ints({-1, 0, -1, 0})})).refusal.text(), "the input or the output is empty");
}

TEST_F(NodePad, IsRefusedWhereItDependsOnTheInputs) {
  OneNode checked = made({2, 3}, {builder_.input("pads", {4}, graph::DType::kInt64)});
  // As if the shape were known.
  checked.graph.value(checked.graph.outputs[0]).type.dims = graph::Dims{2, 5};
  EXPECT_EQ(pads_of(checked).refusal.text(), "pads or axes are computed");
}

TEST_F(NodePad, IsRefusedForAComputedValue) {
  const OneNode checked = made({2, 3}, {ints({0, 1, 0, 1}), builder_.input("value", graph::Dims{})});
  EXPECT_EQ(pads_of(checked).refusal.text(), "the value is computed");
}

}  // namespace
}  // namespace hone::device::cuda
