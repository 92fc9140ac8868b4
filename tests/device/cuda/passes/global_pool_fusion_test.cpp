// A convolution takes in the global average pool that alone reads its result, where that is asked for and the
// images are small.
#include "graph/operator.hpp"
#include "support/passes.hpp"

namespace hone::test {
namespace {

using Ints = std::vector<int64_t>;

constexpr const char* kPass = "global_pool_fusion";
const Dims kImage = {Dim::symbol("N"), 8, 5, 5};

/// Behind the passes of convolutions ahead of it, asked for; outputs stay the same.
Transformed fuse(const Graph& original) {
  Transformed result{original, {}};
  transform::PassOptions options{.requested = {kPass, "squeeze_excite_fusion"}};
  for (const std::string& name : transform::pass_names()) {
    if (name != kPass && name != "convolution_fusion" && name != "squeeze_excite_fusion" &&
        name != "activation_recognition")
      options.disabled.push_back(name);
  }
  for (transform::Summary& summary : transform::optimize(result.graph, options)) {
    if (summary.name == kPass) result.summary = std::move(summary);
  }
  expect_equivalent(original, result.graph);
  return result;
}

/// A convolution of `in` channels to `out` of images of that size, an activation and the pool.
Graph last(const Dims& image, int64_t out, const char* activation = "Relu",
           const char* pool = "GlobalAveragePool") {
  GraphBuilder b;
  const ValueId conv = b.conv(b.input("x", image), image[1].value(), out);
  return b.finish({b.node(pool, {activation == nullptr ? conv : b.node(activation, {conv})})});
}

void expect_refused(const Graph& graph, const std::string& structure_of_it, const std::string& reason) {
  const Transformed result = fuse(graph);
  EXPECT_EQ(structure_with_bodies(result.graph), structure_of_it);
  EXPECT_TRUE(refuses(result, reason)) << reason;
}

TEST(GlobalPoolFusion, TakesThePoolOfAConvolution) {
  const auto result = fuse(last(kImage, 16));
  EXPECT_EQ(structure_with_bodies(result.graph), "conv_global_pool(FusedConv[relu] GlobalAveragePool)");
  EXPECT_EQ(result.graph.nodes[0].name, "Conv1 + Relu1 + GlobalAveragePool1");
  EXPECT_EQ(result.graph.nodes[0].sources,
            (std::vector<std::string>{"Conv1", "Relu1", "GlobalAveragePool1"}));
  EXPECT_EQ(result.graph.value(result.graph.outputs[0]).type.text(), "float32[Nx16x1x1]");
}

TEST(GlobalPoolFusion, WithoutAnActivationToo) {
  EXPECT_EQ(structure_with_bodies(fuse(last(kImage, 16, nullptr)).graph),
            "conv_global_pool(Conv GlobalAveragePool)");
}

TEST(GlobalPoolFusion, BehindAnAdditionOrASwish) {
  GraphBuilder residual;
  const ValueId x = residual.input("x", kImage);
  const ValueId sum = residual.node("Add", {residual.conv(x, 8, 8), x});
  EXPECT_EQ(
      structure_with_bodies(
          fuse(residual.finish({residual.node("GlobalAveragePool", {residual.node("Relu", {sum})})})).graph),
      "conv_global_pool(FusedConv[add,relu] GlobalAveragePool)");
  GraphBuilder swish;
  const ValueId y = swish.conv(swish.input("x", kImage), 8, 16);
  const ValueId gated = swish.node("Mul", {y, swish.node("Sigmoid", {y})});
  EXPECT_EQ(structure_with_bodies(fuse(swish.finish({swish.node("GlobalAveragePool", {gated})})).graph),
            "conv_global_pool(FusedConv[swish] GlobalAveragePool)");
  GraphBuilder hard;
  const ValueId rectified = hard.node("HardSwish", {hard.conv(hard.input("x", kImage), 8, 16)});
  EXPECT_EQ(structure_with_bodies(fuse(hard.finish({hard.node("GlobalAveragePool", {rectified})})).graph),
            "conv_global_pool(FusedConv[hard_swish] GlobalAveragePool)");
}

TEST(GlobalPoolFusion, IsLeftOutUnlessItIsAskedFor) {
  Graph graph = last(kImage, 16);
  for (const transform::Summary& summary : transform::optimize(graph)) EXPECT_NE(summary.name, kPass);
  EXPECT_EQ(structure_with_bodies(graph), "FusedConv[relu] GlobalAveragePool");
}

TEST(GlobalPoolFusion, RefusesLargeImages) {
  EXPECT_EQ(structure_with_bodies(fuse(last({Dim::symbol("N"), 8, 8, 8}, 8)).graph),
            "conv_global_pool(FusedConv[relu] GlobalAveragePool)");
  expect_refused(last({Dim::symbol("N"), 8, 5, 13}, 8), "FusedConv[relu] GlobalAveragePool",
                 "images of 5 x 13 have more than 64 pixels");
  expect_refused(last({Dim::symbol("N"), 8, Dim::symbol("H"), 5}, 8), "FusedConv[relu] GlobalAveragePool",
                 "the size of its images is not known");
}

TEST(GlobalPoolFusion, RefusesWhatTheKernelLacks) {
  const std::string apart = "FusedConv[relu] GlobalAveragePool";
  const std::string multiple = "its channels or filters are no multiple of 8";
  expect_refused(last(kImage, 12), apart, multiple);
  expect_refused(last({Dim::symbol("N"), 12, 5, 5}, 8), apart, multiple);
  expect_refused(last(kImage, 8, "Tanh"), "FusedConv[tanh] GlobalAveragePool",
                 "it ends with more than a swish");
  GraphBuilder groups;
  const ValueId grouped = groups.conv(groups.input("x", kImage), 8, 8, 3, 8);
  expect_refused(groups.finish({groups.node("GlobalAveragePool", {grouped})}), "Conv GlobalAveragePool",
                 "it has groups");
  GraphBuilder line;
  const ValueId conv = line.node("Conv", {line.input("x", {Dim::symbol("N"), 8, 9}), line.random({8, 8, 3})});
  expect_refused(line.finish({line.node("GlobalAveragePool", {conv})}), "Conv GlobalAveragePool",
                 "its windows have not two axes");
}

TEST(GlobalPoolFusion, RefusesOperandsThatAreComputed) {
  GraphBuilder b;
  const ValueId w = b.node("Neg", {b.input("w", {8, 8, 1, 1})});
  const ValueId conv = b.node("Conv", {b.input("x", kImage), w});
  expect_refused(b.finish({b.node("GlobalAveragePool", {conv})}), "Neg Conv GlobalAveragePool",
                 "its filters or its bias are not constant");
}

TEST(GlobalPoolFusion, RefusesABroadcastAddition) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId sum = b.node("Add", {b.conv(x, 8, 8), b.node("Neg", {b.input("r", {8, 1, 1})})});
  expect_refused(b.finish({b.node("GlobalAveragePool", {sum})}), "Neg FusedConv[add] GlobalAveragePool",
                 "it ends with more than a swish");
}

TEST(GlobalPoolFusion, LeavesOtherPoolsAndOtherReadersAlone) {
  EXPECT_EQ(structure_with_bodies(fuse(last(kImage, 8, "Relu", "GlobalMaxPool")).graph),
            "FusedConv[relu] GlobalMaxPool");
  GraphBuilder b;
  const ValueId relu = b.node("Relu", {b.conv(b.input("x", kImage), 8, 8)});
  const Graph read_twice = b.finish({b.node("GlobalAveragePool", {relu}), b.node("Sigmoid", {relu})});
  EXPECT_EQ(structure_with_bodies(fuse(read_twice).graph), "FusedConv[relu] GlobalAveragePool Sigmoid");
}

TEST(GlobalPoolFusion, LeavesThePoolOfSqueezeAndExcitation) {
  GraphBuilder b;
  const ValueId x = b.node("Relu", {b.conv(b.input("x", kImage), 8, 8)});
  const ValueId hidden = b.node("Relu", {b.conv(b.node("GlobalAveragePool", {x}), 8, 4, 1)});
  const ValueId gated = b.node("Mul", {x, b.node("Sigmoid", {b.conv(hidden, 4, 8, 1)})});
  EXPECT_EQ(structure_with_bodies(fuse(b.finish({gated})).graph),
            "FusedConv[relu] squeeze_excite(GlobalAveragePool FusedConv[relu] FusedConv[sigmoid] Mul)");
}

TEST(GlobalPoolFusion, CountsTheOperationsOfBoth) {
  const Graph apart = last({2, 8, 5, 5}, 16);
  const auto flops = [](const Graph& graph) {
    double sum = 0;
    for (const Node& node : graph.nodes) sum += graph::node_cost(graph, node)->flops;
    return sum;
  };
  EXPECT_EQ(flops(fuse(apart).graph), flops(apart));
}

}  // namespace
}  // namespace hone::test
