// The end of a bottleneck and the next one's first convolution become one node behind convolution_fusion,
// where that is asked for.
#include "device/cuda/passes/bottleneck.hpp"
#include "graph/operator.hpp"

namespace hone::test {
namespace {

std::string fused(const Graph& original) { return structure(fuse_bottlenecks(original).graph); }

TEST(BottleneckFusion, TakesTheFormWithoutProjection) {
  for (const bool shortcut_first : {false, true}) {
    const auto result = fuse_bottlenecks(bottleneck({.shortcut_first = shortcut_first}));
    ASSERT_EQ(structure(result.graph), "bottleneck");
    const Node& node = result.graph.nodes[0];
    EXPECT_EQ(node.inputs.size(), 8u);
    EXPECT_EQ(node.name, "Conv1 + Relu1 + Conv2 + Add1 + Relu2 + Conv3 + Relu3");
    EXPECT_EQ(node.sources,
              (std::vector<std::string>{"Conv1", "Relu1", "Conv2", "Add1", "Relu2", "Conv3", "Relu3"}));
    EXPECT_EQ(result.graph.value(node.outputs[0]).type.text(), "float32[Nx256x2x48]");
    EXPECT_EQ(result.graph.value(node.outputs[1]).type.text(), "float32[Nx64x2x48]");
  }
}

TEST(BottleneckFusion, TakesTheFormWithAProjection) {
  for (const bool shortcut_first : {false, true}) {
    const auto result = fuse_bottlenecks(bottleneck({.projects = true, .shortcut_first = shortcut_first}));
    ASSERT_EQ(structure(result.graph), "bottleneck");
    EXPECT_EQ(result.graph.nodes[0].inputs.size(), 10u);
  }
}

TEST(BottleneckFusion, TakesAnyBounds) {
  for (const bool projects : {false, true}) {
    for (const char* activation : {"", "Relu", "Clip"}) {
      Parts parts{.activation = activation, .projects = projects};
      parts.window.activation = parts.next.activation = activation;
      EXPECT_EQ(fused(bottleneck(parts)), "bottleneck");
    }
  }
}

TEST(BottleneckFusion, TakesConvolutionsWithoutBiases) {
  for (const auto part : {&Parts::window, &Parts::expand, &Parts::next, &Parts::projection}) {
    Parts parts{.projects = true};
    (parts.*part).bias = false;
    EXPECT_EQ(fused(bottleneck(parts)), "bottleneck");
  }
  Parts plain;
  plain.window.bias = plain.expand.bias = plain.next.bias = false;
  const auto result = fuse_bottlenecks(bottleneck(plain));
  ASSERT_EQ(structure(result.graph), "bottleneck");
  EXPECT_EQ(result.graph.nodes[0].inputs.size(), 5u);
}

TEST(BottleneckFusion, TakesRowsOfSeveralTilesAndImagesOfAnyHeight) {
  EXPECT_EQ(fused(bottleneck({.image = {1, 64, Dim::symbol("H"), 96}})), "bottleneck");
  EXPECT_EQ(fused(bottleneck({.image = {1, 64, 1, 64}})), "bottleneck");
}

TEST(BottleneckFusion, TakesANextConvolutionOf128OnlyWithoutProjection) {
  const Convolution next = {{128, 256, 1, 1}, {}, "Relu"};
  EXPECT_EQ(fused(bottleneck({.next = next})), "bottleneck");
  EXPECT_EQ(fused(bottleneck({.next = next, .projects = true})),
            "FusedConv[relu] Conv FusedConv[add,relu] FusedConv[relu]");
}

TEST(BottleneckFusion, OthersMayReadWhatItReadsAndMakes) {
  for (const bool projects : {false, true}) {
    GraphBuilder b;
    Parts parts{.projects = projects};
    const ValueId x = b.node("Relu", {b.input("x", parts.image)});
    const Values v = add_bottleneck(b, x, projects ? x : kNoValue, parts);
    const std::vector<ValueId> outputs = {v.wide, b.node("Tanh", {v.wide}), v.narrow,
                                          b.node("Abs", {v.narrow}), b.node("Exp", {x})};
    EXPECT_EQ(fused(b.finish(outputs)), "Relu bottleneck Tanh Abs Exp");
  }
}

TEST(BottleneckFusion, TheNextConvolutionMayRunLast) {
  for (const bool projects : {false, true}) {
    GraphBuilder b;
    Parts parts{.projects = projects};
    parts.next = {{32, 256, 1, 1}};  // does not fit
    const Values v = add_bottleneck(b, parts);
    const ValueId negated = b.node("Neg", {v.wide});
    const ValueId last = convolve(b, v.wide, Parts().next);
    EXPECT_EQ(fused(b.finish({last, v.narrow, negated})), "bottleneck Conv Neg");
  }
}

TEST(BottleneckFusion, TakesTheFirstNextConvolutionThatFits) {
  GraphBuilder b;
  const Values v = add_bottleneck(b, {.next = {{64, 256, 1, 1}, {{"strides", Ints{2, 2}}}}});
  const ValueId residual = b.node("Add", {convolve(b, v.wide, {{256, 256, 1, 1}}), v.wide});
  const ValueId first = convolve(b, v.wide, Parts().next);
  const ValueId second = convolve(b, v.wide, {{128, 256, 1, 1}, {}, "Clip"});
  EXPECT_EQ(fused(b.finish({v.narrow, residual, second, first})),
            "bottleneck Conv FusedConv[add] FusedConv[clip]");
}

TEST(BottleneckFusion, TakesAWholeStage) {
  GraphBuilder b;
  const ValueId x = b.input("x", Parts().image);
  const Values first = add_bottleneck(b, b.node("Relu", {x}), x, {.projects = true});
  const Values second = add_bottleneck(b, first.narrow, first.wide);
  const Values third = add_bottleneck(b, second.narrow, second.wide,
                                      {.next = {{128, 256, 1, 1}, {}, "Relu"}, .shortcut_first = true});
  const ValueId down = convolve(b, third.wide, {{512, 256, 1, 1}, {{"strides", Ints{2, 2}}}});
  EXPECT_EQ(fused(b.finish({third.narrow, down})), "Relu bottleneck bottleneck bottleneck Conv");
}

/// The expansion, which runs later, has the addition.
TEST(BottleneckFusion, AddsAProjectionThatRanEarlier) {
  GraphBuilder b;
  const ValueId x = b.input("x", Parts().image);
  const Values v = add_bottleneck(b, x, convolve(b, x, Parts().projection));
  EXPECT_EQ(fused(b.finish({v.narrow})), "Conv bottleneck");
}

/// Either could be the projection of the other one's shortcut.
TEST(BottleneckFusion, TakesOneOfTwoBottlenecksThatAreAdded) {
  for (const bool others_read_the_first : {false, true}) {
    GraphBuilder b;
    const ValueId x = b.input("x", Parts().image);
    const ValueId middle = convolve(b, x, Parts().window);
    const ValueId expanded = convolve(b, middle, Parts().expand);
    const Values v = add_bottleneck(b, b.node("Neg", {x}), expanded);
    const auto result = fuse_bottlenecks(
        b.finish(others_read_the_first ? std::vector{v.narrow, middle} : std::vector{v.narrow}));
    EXPECT_EQ(structure(result.graph), others_read_the_first ? "FusedConv[relu] Conv Neg bottleneck"
                                                             : "Neg FusedConv[relu] bottleneck");
    EXPECT_EQ(graph::find_part(result.graph.nodes.back(), "project") != nullptr, !others_read_the_first);
  }
}

TEST(BottleneckFusion, TakesBottlenecksThatShareTheirImageAndShortcut) {
  GraphBuilder b;
  const Values first = add_bottleneck(b);
  const Values second = add_bottleneck(b, first.x, first.shortcut);
  const Values third = add_bottleneck(b, second.narrow, first.wide);
  EXPECT_EQ(fused(b.finish({first.narrow, third.narrow})), "bottleneck bottleneck bottleneck");
}

TEST(BottleneckFusion, IsLeftOutUnlessItIsAskedFor) {
  Graph graph = bottleneck();
  transform::optimize(graph);
  EXPECT_EQ(structure(graph), "FusedConv[relu] FusedConv[add,relu] FusedConv[relu]");
}

TEST(BottleneckFusion, CountsTheOperationsOfAllParts) {
  for (const bool projects : {false, true}) {
    const Graph apart = bottleneck({.image = {2, 64, 3, 48}, .projects = projects});
    const Graph together = fuse_bottlenecks(apart).graph;
    ASSERT_EQ(structure(together), "bottleneck");
    const auto flops = [](const Graph& graph) {
      double sum = 0;
      for (const Node& node : graph.nodes) sum += graph::node_cost(graph, node)->flops;
      return sum;
    };
    EXPECT_EQ(flops(together), flops(apart));
  }
}

}  // namespace
}  // namespace hone::test
