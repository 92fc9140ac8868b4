// Where integers begin and end in the shapes that networks have.
#include "quantize/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "support/graph_builder.hpp"

namespace hone::quantize {
namespace {

using tensor::Tensor;
using test::GraphBuilder;
using test::ValueId;

std::set<ValueId> quantized(const Placement& placement) {
  std::set<ValueId> values;
  for (const QuantizedValue& value : placement.values) values.insert(value.value);
  return values;
}

int group_of(const Placement& placement, ValueId id) {
  for (const QuantizedValue& value : placement.values) {
    if (value.value == id) return value.group;
  }
  ADD_FAILURE() << "not quantized";
  return -1;
}

/// How many of the node's inputs read integers.
int64_t reads_of(const Placement& placement, const graph::Graph& graph, ValueId output) {
  const graph::Links links(graph);
  return std::ranges::count_if(
      placement.reads, [&](const QuantizedRead& read) { return read.node == links.producer_of(output); });
}

TEST(Placement, QuantizesInputsOfConvolutionsAndNotTheLastResult) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 3, 8, 8});
  const ValueId c1 = b.conv(x, 3, 4);
  const ValueId r1 = b.node("Relu", {c1});
  const ValueId c2 = b.conv(r1, 4, 5);
  const Placement placement = place(b.finish({c2}));
  EXPECT_EQ(quantized(placement), (std::set<ValueId>{x, r1}));
  EXPECT_EQ(placement.weighted.size(), 2u);
  EXPECT_EQ(placement.int8_share, 1);
  EXPECT_TRUE(placement.kept.empty());
}

TEST(Placement, QuantizesTheShortcutOfAnAdditionOnly) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 4, 8, 8});
  const ValueId r0 = b.node("Relu", {b.conv(x, 4, 4)});
  const ValueId main = b.conv(b.node("Relu", {b.conv(r0, 4, 4)}), 4, 4);
  const ValueId sum = b.node("Add", {main, r0});
  const ValueId r2 = b.node("Relu", {sum});
  const ValueId last = b.conv(r2, 4, 4);
  const auto graph = b.finish({last});
  const Placement placement = place(graph);
  EXPECT_TRUE(quantized(placement).contains(r0));
  EXPECT_TRUE(quantized(placement).contains(r2));
  EXPECT_FALSE(quantized(placement).contains(main));
  EXPECT_FALSE(quantized(placement).contains(sum));
  EXPECT_EQ(reads_of(placement, graph, sum), 1);
}

TEST(Placement, TakesTheShorterOfTwoConvolutionsForTheShortcut) {
  for (const bool main_first : {true, false}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {1, 4, 8, 8});
    const ValueId down = b.conv(x, 4, 4, 1);
    const ValueId main = b.conv(b.node("Relu", {b.conv(x, 4, 4)}), 4, 4);
    const ValueId sum = main_first ? b.node("Add", {main, down}) : b.node("Add", {down, main});
    const Placement placement = place(b.finish({b.conv(b.node("Relu", {sum}), 4, 4)}));
    EXPECT_TRUE(quantized(placement).contains(down));
    EXPECT_FALSE(quantized(placement).contains(main));
  }
}

TEST(Placement, QuantizesBothOperandsThatOthersReadToo) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 4, 8, 8});
  const ValueId a = b.conv(x, 4, 4);
  const ValueId c = b.conv(x, 4, 4);
  const ValueId sum = b.node("Add", {a, c});
  const ValueId out = b.conv(sum, 4, 4);
  const auto graph = b.finish({out, a, c});
  EXPECT_EQ(reads_of(place(graph), graph, sum), 2);
}

TEST(Placement, LeavesAnAdditionForFloatReadersAlone) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 4, 8, 8});
  const ValueId sum = b.node("Add", {b.conv(x, 4, 4), x});
  const ValueId out = b.node("Softmax", {sum});
  const auto graph = b.finish({out});
  EXPECT_EQ(reads_of(place(graph), graph, sum), 0);
}

TEST(Placement, GivesPoolsAndConcatenationsOneRange) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 4, 8, 8});
  const ValueId a = b.node("Relu", {b.conv(x, 4, 4)});
  const ValueId pooled = b.node("MaxPool", {a},
                                {{"kernel_shape", std::vector<int64_t>{3, 3}},
                                 {"pads", std::vector<int64_t>{1, 1, 1, 1}},
                                 {"strides", std::vector<int64_t>{1, 1}}});
  const ValueId other = b.node("Relu", {b.conv(x, 4, 4)});
  const ValueId joined = b.node("Concat", {pooled, other}, {{"axis", int64_t{1}}});
  const ValueId mean = b.node("GlobalAveragePool", {b.conv(joined, 8, 8)});
  const ValueId out = b.node("Gemm", {b.node("Flatten", {mean}), b.random({8, 3})});
  const auto graph = b.finish({out});
  const Placement placement = place(graph);
  const int group = group_of(placement, joined);
  for (const ValueId id : {a, pooled, other}) EXPECT_EQ(group_of(placement, id), group);
  EXPECT_NE(group_of(placement, x), group);
  EXPECT_EQ(reads_of(placement, graph, joined), 2);
  // The average has a range of its own, and the reshaping behind it that one.
  const ValueId before = graph.nodes[static_cast<size_t>(graph::Links(graph).producer_of(mean))].inputs[0];
  EXPECT_NE(group_of(placement, before), group_of(placement, mean));
  EXPECT_TRUE(quantized(placement).contains(mean));
}

TEST(Placement, KeepsAConcatenationOfHeadsInFloat) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 4, 8, 8});
  const ValueId boxes = b.conv(x, 4, 4);
  const ValueId scores = b.node("Sigmoid", {b.conv(x, 4, 2)});
  const ValueId joined = b.node("Concat", {boxes, scores}, {{"axis", int64_t{1}}});
  const Placement placement = place(b.finish({joined}));
  EXPECT_EQ(quantized(placement), std::set<ValueId>{x});
}

TEST(Placement, KeepsAConcatenationThatFloatReadsToo) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 4, 8, 8});
  const ValueId joined = b.node("Concat", {b.conv(x, 4, 4), b.conv(x, 4, 4)}, {{"axis", int64_t{1}}});
  const ValueId out = b.conv(joined, 8, 4);
  const ValueId other = b.node("Exp", {joined});
  const auto graph = b.finish({out, other});
  const Placement placement = place(graph);
  EXPECT_EQ(reads_of(placement, graph, joined), 0);
  EXPECT_TRUE(quantized(placement).contains(joined));
}

TEST(Placement, KeepsGatesInFloat) {
  for (const bool swish : {false, true}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {1, 8, 8, 8});
    const ValueId c = b.conv(x, 8, 8);
    const ValueId pooled = b.node("GlobalAveragePool", {c});
    const ValueId squeezed = b.conv(pooled, 8, 2, 1);
    const ValueId active =
        swish ? b.node("Mul", {squeezed, b.node("Sigmoid", {squeezed})}) : b.node("Relu", {squeezed});
    const ValueId gate = b.node("Sigmoid", {b.conv(active, 2, 8, 1)});
    const ValueId gated = b.node("Mul", {c, gate});
    const ValueId out = b.conv(gated, 8, 4);
    const Placement placement = place(b.finish({out}));
    EXPECT_EQ(quantized(placement), (std::set<ValueId>{x, gated})) << swish;
    EXPECT_EQ(placement.kept.size(), 2u);
    EXPECT_NE(placement.kept[0].reason.find("gate"), std::string::npos);
    EXPECT_GT(placement.int8_share, 0.9);
    EXPECT_LT(placement.int8_share, 1);
  }
}

TEST(Placement, KeepsTheMeanOfASoftmaxInFloat) {
  // The sides of boxes as YOLOv8 has them: for each side the shares of 16 distances, and their mean.
  for (const bool conv : {true, false}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {1, 8, 4, 4});
    const ValueId sides =
        b.node("Reshape", {b.conv(x, 8, 64, 1), b.constant(Tensor::of<int64_t>({1, 4, 16, 16}, {4}))});
    const ValueId shares = b.node("Softmax", {sides}, {{"axis", int64_t{2}}});
    ValueId mean;
    if (conv) {
      const ValueId turned = b.node("Transpose", {shares}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
      mean = b.node("Conv", {turned, b.random({1, 16, 1, 1})});
    } else {
      const ValueId turned = b.node("Transpose", {shares}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
      const ValueId rows = b.node("Reshape", {turned, b.constant(Tensor::of<int64_t>({64, 16}, {2}))});
      mean = b.node("MatMul", {rows, b.random({16, 1})});
    }
    const Placement placement = place(b.finish({mean}));
    EXPECT_EQ(quantized(placement), std::set<ValueId>{x}) << conv;
    ASSERT_EQ(placement.kept.size(), 1u) << conv;
    EXPECT_NE(placement.kept[0].reason.find("mean of a softmax"), std::string::npos);
  }
}

TEST(Placement, QuantizesOtherReadersOfASoftmax) {
  GraphBuilder b;
  const ValueId shares = b.node("Softmax", {b.input("x", {1, 8, 4, 4})}, {{"axis", int64_t{1}}});
  EXPECT_EQ(place(b.finish({b.conv(shares, 8, 16, 1)})).weighted.size(), 1u);
}

TEST(Placement, KeepsProductsOfActivationsInFloat) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 16, 16});
  const ValueId q = b.node("MatMul", {x, b.random({16, 16})});
  const ValueId k = b.node("MatMul", {x, b.random({16, 16})});
  const ValueId scores = b.node("MatMul", {q, k});
  const Placement placement = place(b.finish({scores}));
  EXPECT_EQ(placement.weighted.size(), 2u);
  EXPECT_EQ(quantized(placement), std::set<ValueId>{x});
  ASSERT_EQ(placement.kept.size(), 1u);
  EXPECT_NE(placement.kept[0].reason.find("not constant"), std::string::npos);
  EXPECT_NEAR(placement.int8_share, 2.0 / 3, 1e-9);
}

TEST(Placement, ReadsQuantizedValuesThroughTranspositions) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 16, 8});
  const ValueId soft = b.node("Softmax", {x});
  const ValueId turned = b.node("Transpose", {soft}, {{"perm", std::vector<int64_t>{0, 2, 1}}});
  const ValueId out = b.node("MatMul", {turned, b.random({16, 4})});
  const Placement placement = place(b.finish({out}));
  EXPECT_EQ(quantized(placement), (std::set<ValueId>{soft, turned}));
  EXPECT_EQ(group_of(placement, soft), group_of(placement, turned));
}

TEST(Placement, ReadsQuantizedValuesThroughWhatPicksAndRepeatsThem) {
  for (const bool picks : {true, false}) {
    GraphBuilder b;
    const ValueId soft = b.node("Softmax", {b.input("x", {2, 16, 8})});
    const ValueId moved = picks ? b.node("Gather", {soft, b.ints({0, 3})}, {{"axis", int64_t{1}}})
                                : b.node("Tile", {soft, b.ints({1, 2, 1})});
    const Placement placement = place(b.finish({b.node("MatMul", {moved, b.random({8, 4})})}));
    EXPECT_EQ(quantized(placement), (std::set<ValueId>{soft, moved})) << picks;
    EXPECT_EQ(group_of(placement, soft), group_of(placement, moved));
  }
}

TEST(Placement, SaysWhyAProductStaysInFloat) {
  GraphBuilder b;
  const ValueId x = b.input("x", {4, 4});
  const ValueId scaled = b.node("Gemm", {x, b.random({4, 4})}, {{"alpha", 0.5f}});
  const ValueId broken = b.node("MatMul", {scaled, b.filled({4, 4}, std::numeric_limits<float>::infinity())});
  const Placement placement = place(b.finish({broken}));
  EXPECT_TRUE(placement.weighted.empty());
  ASSERT_EQ(placement.kept.size(), 2u);
  EXPECT_NE(placement.kept[0].reason.find("scales"), std::string::npos);
  EXPECT_NE(placement.kept[1].reason.find("infinity"), std::string::npos);
}

TEST(Placement, KeepsInFloatWhatRulesSay) {
  GraphBuilder b;
  const auto stem = b.node("Relu", {b.conv(b.input("x", {1, 3, 8, 8}), 3, 32)});
  const auto pooled =
      b.node("MaxPool", {stem},
             {{"kernel_shape", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}});
  const auto depthwise = b.conv(b.conv(pooled, 32, 32, 1), 32, 32, 3, 32);
  const graph::Graph graph = b.finish({b.conv(depthwise, 32, 8, 1)});
  const Placement all = place(graph);
  EXPECT_EQ(all.weighted.size(), 4);
  EXPECT_EQ(reads_of(all, graph, pooled), 1);
  const Placement some = restricted(graph, all, {16, false});
  EXPECT_EQ(some.weighted.size(), 2);
  EXPECT_EQ(some.values.size(), all.values.size());
  EXPECT_EQ(reads_of(some, graph, pooled), 0) << "the pool would move integers of floats";
  EXPECT_LT(some.int8_share, all.int8_share);
  ASSERT_EQ(some.kept.size(), 2);
  EXPECT_NE(some.kept[0].reason.find("it sums over 3 channels, no multiple of 16"), std::string::npos)
      << some.kept[0].reason;
  EXPECT_NE(some.kept[1].reason.find("convolutions in groups"), std::string::npos) << some.kept[1].reason;
}

/// Rules take integers away: an addition that reads what no calibration saw would have no scale.
TEST(Placement, RulesAddNoReads) {
  GraphBuilder b;
  const auto x = b.node("Relu", {b.conv(b.input("x", {1, 32, 8, 8}), 32, 32, 1)});
  const auto depthwise = b.conv(x, 32, 32, 3, 32);
  const auto sum = b.node("Add", {b.conv(x, 32, 32, 1), depthwise});
  const auto narrow = b.node("Add", {b.conv(b.conv(sum, 32, 24, 1), 24, 32, 1), sum});
  const graph::Graph graph = b.finish({b.conv(narrow, 32, 32, 1)});
  const Placement all = place(graph);
  const Placement some = restricted(graph, all, {16, false});
  EXPECT_LT(some.weighted.size(), all.weighted.size());
  for (const QuantizedRead& read : some.reads) {
    const ValueId id = graph.nodes[static_cast<size_t>(read.node)].inputs[read.input];
    EXPECT_TRUE(quantized(all).contains(id)) << graph.value(id).name;
  }
}

}  // namespace
}  // namespace hone::quantize
