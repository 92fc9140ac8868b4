// Passes about shapes: reshapes, transpositions, padding, pools, and equal things computed once.
#include <gmock/gmock.h>

#include <functional>

#include "support/passes.hpp"

namespace hone::test {
namespace {

using Ints = std::vector<int64_t>;

const Dims kImage = {Dim::symbol("N"), 4, 6, 6};

ValueId transpose(GraphBuilder& b, ValueId x, const Ints& perm) {
  return b.node("Transpose", {x}, {{"perm", perm}});
}

TEST(ReshapeCancellation, ChainBecomesOne) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  ValueId y = b.node("Relu", {x});
  y = b.node("Flatten", {y}, {{"axis", int64_t{2}}});
  y = b.node("Unsqueeze", {y, b.ints({0})});
  y = b.node("Reshape", {y, b.ints({-1, 144})});
  const auto result = apply_passes(b.finish({b.node("Relu", {y})}), {"reshape_cancellation", "dead_code"});
  EXPECT_EQ(structure(result.graph), "Relu Reshape Relu");
}

TEST(ReshapeCancellation, RestoredShapeGoes) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId up = b.node("Unsqueeze", {b.node("Relu", {x}), b.ints({1})});
  const Graph graph = b.finish({b.node("Relu", {b.node("Squeeze", {up, b.ints({1})})})});
  check_pass(graph, "reshape_cancellation");
  EXPECT_EQ(structure(apply_passes(graph, {"reshape_cancellation", "dead_code"}).graph), "Relu Relu");
}

TEST(ReshapeCancellation, ShapeComputedFromTheBatchBecomesConstant) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId batch = b.node("Gather", {b.node("Shape", {x}), b.ints({0})});
  const ValueId shape = b.node("Concat", {batch, b.ints({-1})}, {{"axis", int64_t{0}}});
  const Graph graph = b.finish({b.node("Reshape", {x, shape})});
  check_pass(graph, "reshape_cancellation");
  EXPECT_EQ(structure(apply_passes(graph, {"reshape_cancellation", "dead_code"}).graph), "Reshape");
}

TEST(ReshapeCancellation, RefusesAShapeThatOnlyTheRunKnows) {
  GraphBuilder b;
  const ValueId x = b.input("x", {6});
  const ValueId shape = b.input("shape", {2}, DType::kInt64);
  const auto result = apply_passes(b.finish({b.node("Reshape", {x, shape})}), {"reshape_cancellation"});
  EXPECT_EQ(structure(result.graph), "Reshape");
  EXPECT_TRUE(refuses(result, "cannot be told before it runs"));
}

TEST(TransposeCancellation, InversePairGoes) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId y = transpose(b, transpose(b, b.node("Relu", {x}), {0, 2, 3, 1}), {0, 3, 1, 2});
  EXPECT_EQ(structure(check_pass(b.finish({b.node("Relu", {y})}), "transpose_cancellation").graph),
            "Relu Relu");
}

TEST(TransposeCancellation, PairComposes) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const auto result = check_pass(b.finish({transpose(b, transpose(b, x, {1, 0, 2, 3}), {0, 2, 3, 1})}),
                                 "transpose_cancellation");
  EXPECT_EQ(structure(result.graph), "Transpose");
}

TEST(TransposeCancellation, CancelsThroughElementwiseNodes) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  ValueId y = transpose(b, b.node("Relu", {x}), {0, 2, 3, 1});
  y = b.node("Mul", {b.node("Sigmoid", {y}), b.scalar(3)});
  y = b.node("Sub", {b.scalar(1), y});
  y = transpose(b, y, {0, 3, 1, 2});
  const auto result = check_pass(b.finish({b.node("Relu", {y})}), "transpose_cancellation");
  EXPECT_EQ(structure(result.graph), "Relu Sigmoid Mul Sub Relu");
}

TEST(TransposeCancellation, StopsAtAPerChannelConstant) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId y = b.node("Mul", {transpose(b, x, {0, 2, 3, 1}), b.random({4})});
  const Graph graph = b.finish({transpose(b, y, {0, 3, 1, 2})});
  EXPECT_EQ(structure(check_pass(graph, "transpose_cancellation").graph), "Transpose Mul Transpose");
}

TEST(TransposeCancellation, PullsOutOfAnAddition) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId y = b.input("y", {1, 4, 1, 6});
  const ValueId sum = b.node("Add", {transpose(b, x, {0, 2, 3, 1}), transpose(b, y, {0, 2, 3, 1})});
  EXPECT_EQ(structure(check_pass(b.finish({sum}), "transpose_cancellation").graph), "Add Transpose");
}

TEST(TransposeCancellation, RefusesOperandsThatAreReadElsewhere) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId y = b.input("y", kImage);
  const ValueId left = transpose(b, x, {0, 2, 3, 1});
  const ValueId sum = b.node("Add", {left, transpose(b, y, {0, 2, 3, 1})});
  const auto result = check_pass(b.finish({sum, left}), "transpose_cancellation");
  EXPECT_EQ(structure(result.graph), "Transpose Transpose Add");
  EXPECT_TRUE(refuses(result, "is needed elsewhere"));
}

ValueId mean(GraphBuilder& b, ValueId x, const Ints& axes, int64_t keepdims) {
  return b.node("ReduceMean", {x, b.ints(axes)}, {{"keepdims", keepdims}});
}

TEST(ReduceToPool, SpatialMeans) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  EXPECT_EQ(structure(check_pass(b.finish({mean(b, x, {2, 3}, 1)}), "reduce_to_pool").graph),
            "GlobalAveragePool");
  GraphBuilder c;
  const ValueId y = c.input("y", kImage);
  EXPECT_EQ(structure(check_pass(c.finish({mean(c, y, {-1, -2}, 0)}), "reduce_to_pool").graph),
            "GlobalAveragePool Squeeze");
}

TEST(ReduceToPool, WholePlanes) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId y = b.node("AveragePool", {x}, {{"kernel_shape", Ints{6, 6}}});
  EXPECT_EQ(structure(check_pass(b.finish({y}), "reduce_to_pool").graph), "GlobalAveragePool");
}

TEST(ReduceToPool, RefusesOtherAxes) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const auto result = check_pass(b.finish({mean(b, x, {1, 2}, 1)}), "reduce_to_pool");
  EXPECT_EQ(structure(result.graph), "ReduceMean");
  EXPECT_TRUE(refuses(result, "does not average over all spatial axes"));
}

TEST(ReduceToPool, RefusesEmptyPlanes) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 4, 0, 6});
  const auto result = check_pass(b.finish({mean(b, x, {2, 3}, 1)}), "reduce_to_pool");
  EXPECT_EQ(structure(result.graph), "ReduceMean");
  EXPECT_TRUE(refuses(result, "axis 2 has no elements"));
}

ValueId pad(GraphBuilder& b, ValueId x, const Ints& amounts, float value = 0) {
  return b.node("Pad", {x, b.ints(amounts), b.scalar(value)});
}
const Ints kSpatial = {0, 0, 1, 2, 0, 0, 1, 0};

ValueId pool(GraphBuilder& b, const char* op, ValueId x, AttributeList attributes = {}) {
  attributes.emplace_back("kernel_shape", Ints{3, 3});
  return b.node(op, {x}, attributes);
}

TEST(PadFolding, IntoConvolution) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const auto result = check_pass(b.finish({b.conv(pad(b, x, kSpatial), 4, 5)}), "pad_folding");
  EXPECT_EQ(structure(result.graph), "Conv");
  EXPECT_EQ(result.graph.nodes[0].attributes.get_ints("pads"), (Ints{2, 3, 2, 1}));
}

/// auto_pad VALID means no padding, whatever the pads beside it say.
TEST(PadFolding, IgnoresPadsThatAutoPadSwitchesOff) {
  const AttributeList valid = {{"auto_pad", std::string("VALID")}, {"pads", Ints{1, 1, 1, 1}}};
  GraphBuilder b;
  const ValueId x = pad(b, b.input("x", {Dim::symbol("N"), 4, 7, 7}), kSpatial);
  const ValueId y = b.node("Conv", {x, b.random({5, 4, 3, 3})}, valid);
  const auto convolution = check_pass(b.finish({y}), "pad_folding");
  EXPECT_EQ(structure(convolution.graph), "Conv");
  EXPECT_EQ(convolution.graph.nodes[0].attributes.get_ints("pads"), (Ints{1, 2, 1, 0}));
  GraphBuilder c;
  const ValueId z = pool(c, "AveragePool", pad(c, c.input("z", kImage), kSpatial), valid);
  const auto averages = check_pass(c.finish({z}), "pad_folding");
  EXPECT_EQ(structure(averages.graph), "AveragePool");
  EXPECT_EQ(averages.graph.nodes[0].attributes.get_ints("pads"), (Ints{1, 2, 1, 0}));
}

TEST(PadFolding, IntoAveragePool) {
  for (const int64_t include : {0, 1}) {
    GraphBuilder b;
    const ValueId x = b.input("x", kImage);
    const ValueId y = pool(b, "AveragePool", pad(b, x, kSpatial), {{"count_include_pad", include}});
    EXPECT_EQ(structure(check_pass(b.finish({y}), "pad_folding").graph), "AveragePool") << include;
  }
}

TEST(PadFolding, IntoMaxPoolOfWhatIsNeverNegative) {
  GraphBuilder b;
  const ValueId x = b.node("Relu", {b.input("x", kImage)});
  EXPECT_EQ(structure(check_pass(b.finish({pool(b, "MaxPool", pad(b, x, kSpatial))}), "pad_folding").graph),
            "Relu MaxPool");
}

TEST(PadFolding, Refusals) {
  const auto refusal = [](const std::function<ValueId(GraphBuilder&, ValueId)>& make) {
    GraphBuilder b;
    const ValueId x = b.input("x", kImage);
    const auto result = check_pass(b.finish({make(b, x)}), "pad_folding");
    EXPECT_EQ(result.summary.changes, 0);
    return result.summary.refusals.size() == 1 ? result.summary.refusals[0] : std::string();
  };
  using testing::HasSubstr;
  EXPECT_THAT(refusal([](auto& b, ValueId x) { return b.conv(pad(b, x, kSpatial, 1), 4, 4); }),
              HasSubstr("the padding is 1, not 0"));
  EXPECT_THAT(refusal([](auto& b, ValueId x) {
                return b.conv(pad(b, x, {0, 1, 0, 0, 0, 0, 0, 0}), 5, 4);
              }),
              HasSubstr("it pads batch or channels"));
  EXPECT_THAT(refusal([](auto& b, ValueId x) {
                return b.conv(pad(b, x, {0, 0, -1, 0, 0, 0, 0, 0}), 4, 4);
              }),
              HasSubstr("it crops"));
  EXPECT_THAT(refusal([](auto& b, ValueId x) { return pool(b, "MaxPool", pad(b, x, kSpatial)); }),
              HasSubstr("may be negative"));
  EXPECT_THAT(refusal([](auto& b, ValueId x) {
                return pool(b, "AveragePool", pad(b, x, kSpatial), {{"pads", Ints{1, 0, 1, 0}}});
              }),
              HasSubstr("does not count padding of its own"));
  EXPECT_THAT(refusal([](auto& b, ValueId x) {
                return pool(b, "MaxPool", pad(b, b.node("Relu", {x}), {0, 0, 3, 3, 0, 0, 3, 3}));
              }),
              HasSubstr("a window would lie entirely in the padding"));
  EXPECT_THAT(refusal([](auto& b, ValueId x) {
                return pool(b, "AveragePool", pad(b, x, kSpatial), {{"ceil_mode", int64_t{1}}});
              }),
              HasSubstr("rounds its size up"));
  EXPECT_THAT(
      refusal([](auto& b, ValueId x) {
        const ValueId padded = b.node("Pad", {x, b.ints(kSpatial)}, {{"mode", std::string("reflect")}});
        return b.conv(padded, 4, 4);
      }),
      HasSubstr("its mode is reflect"));
  EXPECT_THAT(refusal([](auto& b, ValueId x) {
                const ValueId padded = pad(b, x, kSpatial);
                return b.node("Mul", {b.conv(padded, 4, 4), b.node("Sigmoid", {b.conv(padded, 4, 4)})});
              }),
              HasSubstr("is read elsewhere"));
}

TEST(CommonSubexpression, EqualNodesAndConstants) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId left = b.node("Add", {b.node("Relu", {x}), b.scalar(2)});
  const ValueId right = b.node("Add", {b.node("Relu", {x}), b.scalar(2)});
  const auto result = check_pass(b.finish({b.node("Mul", {left, right})}), "common_subexpression");
  EXPECT_EQ(structure(result.graph), "Relu Add Mul");
}

TEST(CommonSubexpression, OtherAttributesAreOtherNodes) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId left = b.node("LeakyRelu", {x}, {{"alpha", 0.1f}});
  const ValueId right = b.node("LeakyRelu", {x}, {{"alpha", 0.2f}});
  const auto result = check_pass(b.finish({b.node("Mul", {left, right})}), "common_subexpression");
  EXPECT_EQ(structure(result.graph), "LeakyRelu LeakyRelu Mul");
}

TEST(CommonSubexpression, RefusesASecondGraphOutput) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const auto result =
      check_pass(b.finish({b.node("Relu", {x}), b.node("Relu", {x})}), "common_subexpression");
  EXPECT_EQ(structure(result.graph), "Relu Relu");
  EXPECT_TRUE(refuses(result, "makes a graph output of its own"));
}

}  // namespace
}  // namespace hone::test
