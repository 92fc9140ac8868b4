// Batch normalisation and other per-channel scales and shifts go into the weights before them.
#include "support/passes.hpp"

namespace hone::test {
namespace {

constexpr const char* kPass = "batch_norm_folding";
constexpr const char* kLowering = "batch_norm_lowering";
const Dims kImage = {Dim::symbol("N"), 4, 6, 6};

TEST(BatchNormFolding, GoesIntoConvolution) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const Graph graph = b.finish({b.batch_norm(b.conv(x, 4, 6), 6)});
  const auto result = check_pass(graph, kPass);
  EXPECT_EQ(structure(result.graph), "Conv");
  EXPECT_EQ(result.graph.nodes[0].name, "Conv1 + BatchNormalization1");
  EXPECT_EQ(result.graph.nodes[0].sources, (std::vector<std::string>{"Conv1", "BatchNormalization1"}));
  EXPECT_EQ(result.summary.changes, 1);
}

TEST(BatchNormFolding, KeepsTheBiasOfAGroupedConvolution) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId y = b.node("Conv", {x, b.random({6, 2, 3, 3}), b.random({6})}, {{"group", int64_t{2}}});
  EXPECT_EQ(structure(check_pass(b.finish({b.batch_norm(y, 6)}), kPass).graph), "Conv");
}

TEST(BatchNormFolding, GoesIntoGroupedConvTranspose) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId y = b.node("ConvTranspose", {x, b.random({4, 3, 3, 3})}, {{"group", int64_t{2}}});
  EXPECT_EQ(structure(check_pass(b.finish({b.batch_norm(y, 6)}), kPass).graph), "ConvTranspose");
}

TEST(BatchNormFolding, GoesIntoGemmOfEitherLayout) {
  for (const int64_t transposed : {0, 1}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {Dim::symbol("N"), 5});
    const ValueId w = transposed != 0 ? b.random({3, 5}) : b.random({5, 3});
    const ValueId y =
        b.node("Gemm", {x, w, b.random({1, 3})}, {{"transB", transposed}, {"alpha", 0.5f}, {"beta", 2.0f}});
    EXPECT_EQ(structure(check_pass(b.finish({b.batch_norm(y, 3)}), kPass).graph), "Gemm");
  }
}

TEST(BatchNormFolding, MakesAGemmOfAMatMul) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), 5});
  const ValueId y = b.node("MatMul", {x, b.random({5, 3})});
  EXPECT_EQ(structure(check_pass(b.finish({b.batch_norm(y, 3)}), kPass).graph), "Gemm");
}

TEST(BatchNormFolding, TakesScalesAndShiftsOfEveryKind) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  ValueId y = b.conv(x, 4, 6);
  y = b.node("Mul", {b.random({6, 1, 1}), y});
  y = b.node("Add", {y, b.random({1, 6, 1, 1})});
  y = b.node("Sub", {y, b.scalar(0.25f)});
  y = b.node("Div", {y, b.filled({1, 1, 1, 1}, 3)});
  EXPECT_EQ(structure(check_pass(b.finish({y}), kPass).graph), "Conv");
}

TEST(BatchNormFolding, LeavesAConstantAlongAnotherAxis) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 4, 6, 6});
  const Graph graph = b.finish({b.node("Mul", {b.conv(x, 4, 6), b.random({6})})});
  EXPECT_EQ(structure(check_pass(graph, kPass).graph), "Conv Mul");
}

TEST(BatchNormFolding, RefusesAResultWithTwoReaders) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId y = b.conv(x, 4, 6);
  const auto result = check_pass(b.finish({b.batch_norm(y, 6), b.node("Relu", {y})}), kPass);
  EXPECT_EQ(structure(result.graph), "Conv BatchNormalization Relu");
  EXPECT_TRUE(
      refuses(result, "'Conv1' + 'BatchNormalization1' not folded: the result of 'Conv1' has 2 readers"));
}

TEST(BatchNormFolding, RefusesAGraphOutput) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId y = b.conv(x, 4, 6);
  const auto result = check_pass(b.finish({y, b.batch_norm(y, 6)}), kPass);
  EXPECT_TRUE(refuses(result, "the result of 'Conv1' is a graph output"));
}

TEST(BatchNormFolding, RefusesComputedParameters) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId scale = b.input("scale", {6});
  const ValueId y = b.node("BatchNormalization",
                           {b.conv(x, 4, 6), scale, b.random({6}), b.random({6}), b.random({6}, 1, 2)});
  const auto result = check_pass(b.finish({y}), kPass);
  EXPECT_EQ(structure(result.graph), "Conv BatchNormalization");
  EXPECT_TRUE(refuses(result, "its input 1 is not constant"));
}

TEST(BatchNormFolding, RefusesComputedWeights) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId w = b.input("w", {6, 4, 1, 1});
  const auto result = check_pass(b.finish({b.batch_norm(b.node("Conv", {x, w}), 6)}), kPass);
  EXPECT_EQ(structure(result.graph), "Conv BatchNormalization");
  EXPECT_TRUE(refuses(result, "the weights of 'Conv1' are not constant"));
}

TEST(BatchNormLowering, MakesAProductAndASum) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  EXPECT_EQ(structure(check_pass(b.finish({b.batch_norm(x, 4)}), kLowering).graph),
            "FusedElementwise[mul,add]");
  GraphBuilder c;
  const ValueId rows = c.input("rows", {Dim::symbol("N"), 4});
  EXPECT_EQ(structure(check_pass(c.finish({c.batch_norm(rows, 4)}), kLowering).graph),
            "FusedElementwise[mul,add]");
}

TEST(BatchNormLowering, RefusesUnknownChannels) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), Dim::symbol("C"), 2, 2});
  const auto result = apply_passes(b.finish({b.batch_norm(x, 4)}), {kLowering});
  EXPECT_EQ(structure(result.graph), "BatchNormalization");
  EXPECT_TRUE(refuses(result, "its number of channels is not known"));
}

TEST(BatchNormLowering, RefusesUnusableVariance) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId y =
      b.node("BatchNormalization", {x, b.random({4}), b.random({4}), b.random({4}), b.filled({4}, -1)});
  const auto result = apply_passes(b.finish({y}), {kLowering});
  EXPECT_EQ(structure(result.graph), "BatchNormalization");
  EXPECT_TRUE(refuses(result, "the scale of channel 0 is not finite"));
}

TEST(BatchNormFolding, StaysWhenDisabled) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  Graph graph = b.finish({b.batch_norm(b.conv(x, 4, 6), 6)});
  transform::optimize(graph, {.disabled = {kPass}});
  EXPECT_EQ(structure(graph), "FusedConv[mul,add]");
}

}  // namespace
}  // namespace hone::test
