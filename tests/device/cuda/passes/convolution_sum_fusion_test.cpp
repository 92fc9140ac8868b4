// Two convolutions whose results are added become one node behind convolution_fusion, where that is asked
// for.
#include "graph/operator.hpp"
#include "support/passes.hpp"

namespace hone::test {
namespace {

using Ints = std::vector<int64_t>;

constexpr const char* kPass = "convolution_sum_fusion";
const Dims kImage = {Dim::symbol("N"), 8, 6, 6};

Transformed fuse(const Graph& original) { return check_behind_convolution_fusion(original, kPass); }

struct Parts {
  bool main_bias = true;
  bool shortcut_bias = true;
  bool shortcut_first = false;
  const char* activation = "Relu";
  const char* early_activation = nullptr;  ///< behind the shortcut
  int64_t filters = 16;
  Ints strides = {2, 2};
  Ints dilations = {1, 1};
};

/// A convolution of 3 x 3 two pixels apart and a projection of another image two pixels apart, added.
Graph block(const Parts& parts = {}) {
  GraphBuilder b;
  const auto conv = [&](ValueId x, int64_t channels, int64_t kernel, bool bias, const Ints& dilations) {
    std::vector<ValueId> inputs = {x, b.random({parts.filters, channels, kernel, kernel}, -0.5, 0.5)};
    if (bias) inputs.push_back(b.random({parts.filters}));
    const int64_t pad = kernel / 2 * dilations[0];
    return b.node("Conv", inputs,
                  {{"strides", parts.strides}, {"pads", Ints(4, pad)}, {"dilations", dilations}});
  };
  const ValueId x = b.input("x", kImage);
  const ValueId y = b.input("y", {Dim::symbol("N"), 24, 6, 6});
  const auto shortcut = [&] {
    const ValueId result = conv(y, 24, 1, parts.shortcut_bias, {1, 1});
    return parts.early_activation == nullptr ? result : b.node(parts.early_activation, {result});
  };
  ValueId second = parts.shortcut_first ? shortcut() : ValueId();
  const ValueId main = conv(x, 8, 3, parts.main_bias, parts.dilations);
  if (!parts.shortcut_first) second = shortcut();
  const ValueId sum = b.node("Add", {main, second});
  return b.finish({parts.activation == nullptr ? sum : b.node(parts.activation, {sum})});
}

std::string fused(const Parts& parts) { return structure_with_bodies(fuse(block(parts)).graph); }

void expect_refused(const Graph& graph, const std::string& reason) {
  const Transformed result = fuse(graph);
  EXPECT_EQ(structure_with_bodies(result.graph).find("conv_sum"), std::string::npos) << reason;
  EXPECT_TRUE(refuses(result, reason)) << reason;
}

TEST(ConvolutionSumFusion, MakesOneNodeInEitherOrder) {
  for (const bool shortcut_first : {false, true}) {
    const auto result = fuse(block({.shortcut_first = shortcut_first}));
    ASSERT_EQ(structure_with_bodies(result.graph), "conv_sum(Conv FusedConv[add,relu])");
    const Node& node = result.graph.nodes[0];
    EXPECT_EQ(node.inputs.size(), 5u);
    EXPECT_EQ(node.name, "Conv1 + Conv2 + Add1 + Relu1");
    EXPECT_EQ(node.sources, (std::vector<std::string>{"Conv1", "Conv2", "Add1", "Relu1"}));
    EXPECT_EQ(result.graph.value(node.outputs[0]).type.text(), "float32[Nx16x3x3]");
  }
}

TEST(ConvolutionSumFusion, AddsTheBiases) {
  for (const bool main : {false, true}) {
    for (const bool shortcut : {false, true}) {
      const auto result = fuse(block({.main_bias = main, .shortcut_bias = shortcut}));
      ASSERT_EQ(structure_with_bodies(result.graph), "conv_sum(Conv FusedConv[add,relu])");
      EXPECT_EQ(result.graph.nodes[0].has_input(4), main || shortcut);
    }
  }
}

TEST(ConvolutionSumFusion, TakesAnyBounds) {
  EXPECT_EQ(fused({.activation = nullptr}), "conv_sum(Conv FusedConv[add])");
  EXPECT_EQ(fused({.activation = "Clip"}), "conv_sum(Conv FusedConv[add,clip])");
}

TEST(ConvolutionSumFusion, IsLeftOutUnlessItIsAskedFor) {
  Graph graph = block();
  for (const transform::Summary& summary : transform::optimize(graph)) EXPECT_NE(summary.name, kPass);
  EXPECT_EQ(structure_with_bodies(graph), "Conv FusedConv[add,relu]");
}

TEST(ConvolutionSumFusion, RefusesWhatTheKernelLacks) {
  expect_refused(block({.activation = "Tanh"}), "ends with more than a Relu or Clip");
  expect_refused(block({.filters = 12}), "are no multiple of 8");
  expect_refused(block({.strides = {9, 9}}), "has groups, dilations or windows of another kind");
  expect_refused(block({.dilations = {2, 2}}), "has groups, dilations or windows of another kind");
  expect_refused(block({.shortcut_first = true, .early_activation = "Relu"}),
                 "has an activation ahead of the addition");
}

TEST(ConvolutionSumFusion, RefusesImagesTooLargeForTheKernel) {
  const auto of_width = [](int64_t width) {
    GraphBuilder b;
    const ValueId x = b.input("x", {1, 8, 1, width});
    return b.finish({b.node("Add", {b.conv(x, 8, 8, 1), b.conv(x, 8, 8, 1)})});
  };
  constexpr int64_t kMost = int64_t{1} << 20;
  EXPECT_EQ(structure_with_bodies(fuse(of_width(kMost)).graph), "conv_sum(Conv FusedConv[add])");
  expect_refused(of_width(kMost + 1), "are too large");
}

TEST(ConvolutionSumFusion, RefusesFiltersThatAreComputed) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId w = b.node("Neg", {b.input("w", {8, 8, 1, 1})});
  const ValueId main = b.conv(x, 8, 8, 1);
  expect_refused(b.finish({b.node("Add", {b.node("Conv", {x, w}), main})}), "are not constant");
}

TEST(ConvolutionSumFusion, LeavesWhatOthersReadAndOtherSums) {
  GraphBuilder read_twice;
  const ValueId x = read_twice.input("x", kImage);
  const ValueId first = read_twice.conv(x, 8, 8);
  const ValueId sum = read_twice.node("Add", {read_twice.conv(x, 8, 8), first});
  const auto shared = fuse(read_twice.finish({sum, read_twice.node("Sigmoid", {first})}));
  EXPECT_EQ(shared.summary.changes, 0);
  GraphBuilder identity;
  const ValueId y = identity.input("y", kImage);
  EXPECT_EQ(
      structure_with_bodies(fuse(identity.finish({identity.node("Add", {identity.conv(y, 8, 8), y})})).graph),
      "FusedConv[add]");
}

TEST(ConvolutionSumFusion, CountsTheOperationsOfBoth) {
  const auto flops = [](const Graph& graph) {
    double total = 0;
    for (const Node& node : graph.nodes) total += graph::node_cost(graph, node)->flops;
    return total;
  };
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 8, 5, 5});
  const Graph apart = b.finish({b.node("Relu", {b.node("Add", {b.conv(x, 8, 8), b.conv(x, 8, 8, 1)})})});
  const Transformed result = fuse(apart);
  ASSERT_EQ(structure_with_bodies(result.graph), "conv_sum(Conv FusedConv[add,relu])");
  EXPECT_EQ(flops(result.graph), flops(apart));
}

}  // namespace
}  // namespace hone::test
