// Networks of rows as networks of images one pixel high.
#include "support/passes.hpp"

namespace hone::test {
namespace {

using Ints = std::vector<int64_t>;

constexpr const char* kPass = "row_lifting";
const Dims kRow = {Dim::symbol("N"), 6, 17};

/// With what else a build does, where `all`; outputs stay the same.
Graph lifted(const Graph& original, bool all = false) {
  transform::PassOptions options{.requested = {kPass}};
  for (const std::string& name : transform::pass_names()) {
    if (!all && name != kPass && name != "dead_code") options.disabled.push_back(name);
  }
  Graph result = original;
  transform::optimize(result, options);
  expect_equivalent(original, result);
  return result;
}

ValueId conv(GraphBuilder& b, ValueId x, int64_t filters, int64_t kernel,
             std::vector<std::pair<std::string, graph::Attribute>> attributes = {}, int64_t group = 1) {
  attributes.emplace_back("group", group);
  return b.node("Conv", {x, b.random({filters, 6 / group, kernel}), b.random({filters})}, attributes);
}

TEST(RowLifting, ConvolvesImages) {
  const std::vector<std::vector<std::pair<std::string, graph::Attribute>>> cases = {
      {},
      {{"pads", Ints{2, 1}}, {"strides", Ints{2}}, {"dilations", Ints{2}}, {"kernel_shape", Ints{3}}},
      {{"auto_pad", std::string("SAME_UPPER")}, {"strides", Ints{2}}},
  };
  for (const auto& attributes : cases) {
    for (const int64_t group : {1, 3}) {
      GraphBuilder b;
      const ValueId y = conv(b, b.input("x", kRow), 9, 3, attributes, group);
      EXPECT_EQ(structure(lifted(b.finish({y}))), "Unsqueeze Conv Squeeze");
    }
  }
}

TEST(RowLifting, KeepsImagesBetweenConvolutions) {
  GraphBuilder b;
  const ValueId x = b.input("x", kRow);
  const std::vector<std::pair<std::string, graph::Attribute>> same = {{"pads", Ints{1, 1}}};
  ValueId y = b.node("Relu", {conv(b, x, 6, 3, same)});
  y = b.node("Add", {conv(b, y, 6, 3, same), x});
  y = b.node("MaxPool", {y}, {{"kernel_shape", Ints{3}}, {"strides", Ints{2}}, {"pads", Ints{1, 0}}});
  y = b.node("AveragePool", {y}, {{"kernel_shape", Ints{2}}});
  y = b.node("Clip", {conv(b, y, 6, 1), b.scalar(-0.5f), b.scalar(0.5f)});
  const Graph graph = b.finish({y});
  EXPECT_EQ(structure(lifted(graph)), "Unsqueeze Conv Relu Conv Add MaxPool AveragePool Conv Clip Squeeze");
  EXPECT_EQ(structure(lifted(graph, /*all=*/true)),
            "Unsqueeze FusedConv[relu] FusedConv[add] MaxPool AveragePool FusedConv[clip] Squeeze");
}

TEST(RowLifting, LeavesTheRowsThatOthersRead) {
  GraphBuilder b;
  const ValueId made = conv(b, b.input("x", kRow), 6, 3);
  const ValueId y = b.node("Softmax", {b.node("Tanh", {made})});
  EXPECT_EQ(structure(lifted(b.finish({y, made}))), "Unsqueeze Conv Squeeze Tanh Squeeze Softmax");
}

TEST(RowLifting, LeavesImagesAndWeightsThatAreComputed) {
  GraphBuilder b;
  const ValueId y = b.node("Conv", {b.input("x", kRow), b.input("w", {4, 6, 3})});
  EXPECT_EQ(structure(lifted(b.finish({y}))), "Conv");
  GraphBuilder image;
  EXPECT_EQ(structure(lifted(image.finish({image.conv(image.input("x", {1, 3, 8, 8}), 3, 4)}))), "Conv");
  GraphBuilder alone;
  EXPECT_EQ(structure(lifted(alone.finish({alone.node("Relu", {alone.input("x", kRow)})}))), "Relu");
}

TEST(RowLifting, FollowsTransposedConvolutions) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), 6, 9});
  const ValueId y =
      b.node("ConvTranspose", {x, b.random({6, 4, 4})}, {{"strides", Ints{2}}, {"pads", Ints{1, 1}}});
  EXPECT_EQ(structure(lifted(b.finish({b.node("Relu", {y})}), /*all=*/true)),
            "Unsqueeze FusedConv[relu] Reshape Transpose Reshape Slice");
}

TEST(RowLifting, KeepsImagesBetweenOtherLayers) {
  GraphBuilder b;
  const ValueId x = b.input("x", kRow);
  ValueId y = b.node("PRelu", {conv(b, x, 6, 3), b.random({6, 1})});
  y = b.node("InstanceNormalization", {y, b.random({6}), b.random({6})});
  y = b.node("Add", {b.random({1, 6, 1}), b.node("Mul", {y, b.scalar(0.5f)})});
  y = b.node("Pad", {y, b.constant(Tensor::of<int64_t>({0, 0, 2, 0, 0, 1}, {6}))},
             {{"mode", std::string("reflect")}});
  y = b.node("Concat", {conv(b, y, 6, 4), conv(b, x, 6, 3)}, {{"axis", int64_t{-2}}});
  y = b.node("GlobalAveragePool", {b.node("Sigmoid", {y})});
  EXPECT_EQ(structure(lifted(b.finish({y}))),
            "Unsqueeze Conv PRelu InstanceNormalization Mul Add Pad Conv Conv Concat Sigmoid "
            "GlobalAveragePool Squeeze");
}

/// As speech encoders write it: convolutions between normalizations of the channels of each frame.
TEST(RowLifting, TransposesImages) {
  GraphBuilder b;
  ValueId y = conv(b, b.input("x", kRow), 6, 3);
  y = b.node("Transpose", {y}, {{"perm", Ints{0, 2, 1}}});
  y = b.node("LayerNormalization", {y, b.random({6}), b.random({6})});
  y = conv(b, b.node("Transpose", {y}, {{"perm", Ints{0, 2, 1}}}), 6, 3);
  EXPECT_EQ(structure(lifted(b.finish({y}))),
            "Unsqueeze Conv Transpose Squeeze LayerNormalization Unsqueeze Transpose Conv Squeeze");
}

TEST(RowLifting, LeavesOperandsOfOtherPlaces) {
  GraphBuilder b;
  const ValueId made = conv(b, b.input("x", kRow), 6, 3);
  const ValueId y = b.node("Mul", {made, b.input("gate", {6, 1})});
  EXPECT_EQ(structure(lifted(b.finish({y}))), "Unsqueeze Conv Squeeze Mul");
}

}  // namespace
}  // namespace hone::test
