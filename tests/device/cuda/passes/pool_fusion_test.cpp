// The convolution that reads an image takes in the max pool that alone reads its result, where that is asked
// for.
#include "graph/operator.hpp"
#include "support/passes.hpp"

namespace hone::test {
namespace {

using Ints = std::vector<int64_t>;

constexpr const char* kPass = "pool_fusion";
const Dims kImage = {Dim::symbol("N"), 3, 12, 12};

std::vector<std::pair<std::string, graph::Attribute>> pool(int64_t kernel, int64_t stride, int64_t pad,
                                                           int64_t ceil_mode = 0) {
  return {{"kernel_shape", Ints{kernel, kernel}},
          {"strides", Ints{stride, stride}},
          {"pads", Ints{pad, pad, pad, pad}},
          {"ceil_mode", ceil_mode}};
}

Graph stem(GraphBuilder& b, const std::vector<std::pair<std::string, graph::Attribute>>& attributes,
           const char* op = "MaxPool", int64_t channels = 3) {
  const ValueId x = b.input("x", {Dim::symbol("N"), channels, 12, 12});
  return b.finish({b.node(op, {b.node("Relu", {b.conv(x, channels, 6)})}, attributes)});
}

Transformed fuse(const Graph& original) { return check_behind_convolution_fusion(original, kPass); }

TEST(PoolFusion, TakesThePoolOfAnImagesConvolution) {
  for (const auto& attributes : {pool(3, 2, 1), pool(3, 2, 0), pool(3, 2, 0, 1)}) {
    GraphBuilder b;
    const auto result = fuse(stem(b, attributes));
    EXPECT_EQ(structure_with_bodies(result.graph), "conv_max_pool(FusedConv[relu] MaxPool)");
    EXPECT_EQ(result.graph.nodes[0].name, "Conv1 + Relu1 + MaxPool1");
    EXPECT_EQ(result.graph.nodes[0].sources, (std::vector<std::string>{"Conv1", "Relu1", "MaxPool1"}));
  }
}

TEST(PoolFusion, WithoutAnActivationToo) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const auto result = fuse(b.finish({b.node("MaxPool", {b.conv(x, 3, 6)}, pool(3, 2, 1))}));
  EXPECT_EQ(structure_with_bodies(result.graph), "conv_max_pool(Conv MaxPool)");
}

TEST(PoolFusion, IsLeftOutUnlessItIsAskedFor) {
  GraphBuilder b;
  Graph graph = stem(b, pool(3, 2, 1));
  for (const transform::Summary& summary : transform::optimize(graph)) EXPECT_NE(summary.name, kPass);
  EXPECT_EQ(structure_with_bodies(graph), "FusedConv[relu] MaxPool");
}

TEST(PoolFusion, DisablingWinsOverAskingForIt) {
  GraphBuilder b;
  Graph graph = stem(b, pool(3, 2, 1));
  transform::optimize(graph, {.disabled = {kPass}, .requested = {kPass}});
  EXPECT_EQ(structure_with_bodies(graph), "FusedConv[relu] MaxPool");
}

TEST(PoolFusion, RefusesOtherWindows) {
  for (const auto& attributes : {pool(2, 2, 0), pool(3, 1, 1), pool(5, 2, 1)}) {
    GraphBuilder b;
    const auto result = fuse(stem(b, attributes));
    EXPECT_EQ(structure_with_bodies(result.graph), "FusedConv[relu] MaxPool");
    EXPECT_TRUE(refuses(result, "its windows are not of 3 x 3, two apart"));
  }
}

TEST(PoolFusion, LeavesOtherPoolsAndManyChannelsAlone) {
  GraphBuilder average;
  EXPECT_EQ(structure_with_bodies(fuse(stem(average, pool(3, 2, 1), "AveragePool")).graph),
            "FusedConv[relu] AveragePool");
  GraphBuilder wide;
  EXPECT_EQ(structure_with_bodies(fuse(stem(wide, pool(3, 2, 1), "MaxPool", 8)).graph),
            "FusedConv[relu] MaxPool");
}

TEST(PoolFusion, LeavesWindowsFarApartAlone) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), 3, 40, 40});
  const ValueId conv = b.node("Conv", {x, b.random({6, 3, 3, 3})}, {{"strides", Ints{4, 4}}});
  EXPECT_EQ(structure_with_bodies(fuse(b.finish({b.node("MaxPool", {conv}, pool(3, 2, 0))})).graph),
            "Conv MaxPool");
}

TEST(PoolFusion, LeavesAResultThatOthersReadAlone) {
  GraphBuilder b;
  const ValueId relu = b.node("Relu", {b.conv(b.input("x", kImage), 3, 6)});
  const auto result = fuse(b.finish({b.node("MaxPool", {relu}, pool(3, 2, 1)), b.node("Sigmoid", {relu})}));
  EXPECT_EQ(structure_with_bodies(result.graph), "FusedConv[relu] MaxPool Sigmoid");
}

TEST(PoolFusion, RefusesAPoolWhoseIndicesAreWanted) {
  GraphBuilder b;
  const ValueId conv = b.conv(b.input("x", kImage), 3, 6);
  const auto pooled = b.nodes("MaxPool", {conv}, 2, pool(3, 2, 1));
  const auto result = fuse(b.finish({pooled[0], pooled[1]}));
  EXPECT_EQ(structure_with_bodies(result.graph), "Conv MaxPool");
  EXPECT_TRUE(refuses(result, "the indices are wanted"));
}

TEST(PoolFusion, CountsTheOperationsOfBoth) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3, 12, 12});
  const Graph apart = b.finish({b.node("MaxPool", {b.node("Relu", {b.conv(x, 3, 6)})}, pool(3, 2, 1))});
  const Graph together = fuse(apart).graph;
  const auto flops = [](const Graph& graph) {
    double sum = 0;
    for (const Node& node : graph.nodes) sum += graph::node_cost(graph, node)->flops;
    return sum;
  };
  EXPECT_EQ(flops(together), flops(apart));
}

}  // namespace
}  // namespace hone::test
