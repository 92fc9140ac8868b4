// A convolution takes in the activations and additions that alone read its result.
#include "support/passes.hpp"

namespace hone::test {
namespace {

constexpr const char* kPass = "convolution_fusion";
const Dims kImage = {Dim::symbol("N"), 4, 6, 6};

TEST(ConvolutionFusion, TakesAnActivation) {
  for (const char* op : {"Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSwish", "HardSigmoid", "Elu",
                         "Softplus", "Mish", "Gelu"}) {
    GraphBuilder b;
    const ValueId x = b.input("x", kImage);
    const auto result = check_pass(b.finish({b.node(op, {b.conv(x, 4, 6)})}), kPass);
    ASSERT_EQ(result.graph.nodes.size(), 1u) << op;
    EXPECT_EQ(result.graph.nodes[0].op, "FusedConv") << op;
  }
}

TEST(ConvolutionFusion, TakesRelu6) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId y = b.node("Clip", {b.conv(x, 4, 6), b.scalar(0), b.scalar(6)});
  const auto result = check_pass(b.finish({y}), kPass);
  EXPECT_EQ(structure(result.graph), "FusedConv[clip]");
  EXPECT_EQ(result.graph.nodes[0].attributes.get<std::vector<float>>("post_betas"), std::vector<float>{6});
}

TEST(ConvolutionFusion, LaterConvolutionTakesTheResidual) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId shortcut = b.conv(x, 4, 4, 1);
  const ValueId body = b.conv(b.node("Relu", {b.conv(x, 4, 4)}), 4, 4);
  const ValueId y = b.node("Relu", {b.node("Add", {body, shortcut})});
  const auto result = check_pass(b.finish({y}), kPass);
  EXPECT_EQ(structure(result.graph), "Conv FusedConv[relu] FusedConv[add,relu]");
  EXPECT_EQ(result.graph.nodes[2].name, "Conv3 + Add1 + Relu2");
}

TEST(ConvolutionFusion, WaitsForAnOperandThatComesLater) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId y = b.conv(x, 4, 4);
  const ValueId pooled = b.node("MaxPool", {x}, {{"kernel_shape", std::vector<int64_t>{1, 1}}});
  EXPECT_EQ(structure(check_pass(b.finish({b.node("Add", {y, pooled})}), kPass).graph),
            "MaxPool FusedConv[add]");
}

TEST(ConvolutionFusion, RefusesAnExcitationThatBroadcasts) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId gate = b.input("gate", {Dim::symbol("N"), 4, 1, 1});
  const auto result = check_pass(b.finish({b.node("Mul", {b.conv(x, 4, 4), gate})}), kPass);
  EXPECT_EQ(structure(result.graph), "Conv Mul");
  EXPECT_TRUE(refuses(result, "Mul by float32[Nx4x1x1] broadcasts"));
}

TEST(ConvolutionFusion, RefusesAResultThatAnAdditionWouldEnlarge) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 4, 1, 1});
  const ValueId wide = b.input("wide", {1, 4, 5, 5});
  const auto result = check_pass(b.finish({b.node("Add", {b.conv(x, 4, 4, 1), wide})}), kPass);
  EXPECT_EQ(structure(result.graph), "Conv Add");
  EXPECT_TRUE(refuses(result, "does not surely broadcast"));
}

TEST(ConvolutionFusion, RefusesSecondReaders) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId y = b.conv(x, 4, 4);
  const auto result = check_pass(b.finish({b.node("Relu", {y}), b.node("Sigmoid", {y})}), kPass);
  EXPECT_EQ(structure(result.graph), "Conv Relu Sigmoid");
  EXPECT_TRUE(refuses(result, "the result of 'Conv1' has 2 readers"));
}

TEST(ConvolutionFusion, RefusesAGraphOutputInTheMiddle) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId y = b.conv(x, 4, 4);
  const auto result = check_pass(b.finish({y, b.node("Relu", {y})}), kPass);
  EXPECT_EQ(structure(result.graph), "Conv Relu");
  EXPECT_TRUE(refuses(result, "the result of 'Conv1' is a graph output"));
}

TEST(ConvolutionFusion, RefusesASubtractionFromSomethingElse) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const auto result = check_pass(b.finish({b.node("Sub", {x, b.conv(x, 4, 4)})}), kPass);
  EXPECT_EQ(structure(result.graph), "Conv Sub");
  EXPECT_TRUE(refuses(result, "Sub takes the result as its second operand"));
}

TEST(ConvolutionFusion, RefusesComputedClipBounds) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId low = b.input("low", {});
  const auto result = check_pass(b.finish({b.node("Clip", {b.conv(x, 4, 4), low})}), kPass);
  EXPECT_EQ(structure(result.graph), "Conv Clip");
  EXPECT_TRUE(refuses(result, "a bound of Clip is computed"));
}

TEST(ConvolutionFusion, StaysWhenDisabled) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  Graph graph = b.finish({b.node("Relu", {b.conv(x, 4, 4)})});
  transform::optimize(graph, {.disabled = {kPass}});
  EXPECT_EQ(structure(graph), "Conv Relu");
}

}  // namespace
}  // namespace hone::test
