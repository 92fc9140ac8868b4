// The passes that only tidy up: constant folding, identity removal, dead code.
#include "support/passes.hpp"

namespace hone::test {
namespace {

const Dims kImage = {Dim::symbol("N"), 4, 6, 6};

TEST(ConstantFolding, ComputesAChainOfConstants) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), 3});
  const ValueId c = b.node("Sigmoid", {b.node("Add", {b.random({3}), b.random({3})})});
  const auto result = check_pass(b.finish({b.node("Add", {x, c})}), "constant_folding");
  EXPECT_EQ(structure(result.graph), "Add");
  EXPECT_EQ(result.summary.changes, 2);
}

TEST(ConstantFolding, KnowsTheShapeOfAStaticTensor) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3});
  const ValueId flat = b.node("Reshape", {x, b.node("Add", {b.node("Shape", {x}), b.ints({4, -2})})});
  const auto result = check_pass(b.finish({flat}), "constant_folding");
  EXPECT_EQ(structure(result.graph), "Reshape");
}

TEST(ConstantFolding, LeavesTheShapeOfASymbolicTensor) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), 3});
  const auto result = check_pass(b.finish({b.node("Shape", {x})}), "constant_folding");
  EXPECT_EQ(structure(result.graph), "Shape");
}

TEST(ConstantFolding, KeepsANodeForAGraphOutput) {
  GraphBuilder b;
  b.input("x", {1});
  const ValueId y = b.node("Add", {b.random({3}), b.random({3})});
  const auto result = check_pass(b.finish({y}), "constant_folding");
  EXPECT_EQ(structure(result.graph), "Identity");
}

TEST(ConstantFolding, LeavesRandomNumbers) {
  GraphBuilder b;
  const ValueId x = b.input("x", {3});
  const ValueId training = b.constant(Tensor::scalar<uint8_t>(1).cast(DType::kBool));
  const ValueId noise = b.node("Dropout", {b.random({3}), b.scalar(0.5f), training});
  const auto result = apply_passes(b.finish({b.node("Add", {x, noise})}), {"constant_folding"});
  EXPECT_EQ(structure(result.graph), "Dropout Add");
}

TEST(ConstantFolding, RefusesAMemoryBomb) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1});
  const ValueId huge = b.node("Expand", {b.scalar(1), b.ints({1 << 15, 1 << 15})});
  const auto result = apply_passes(b.finish({b.node("Add", {x, huge})}), {"constant_folding"});
  EXPECT_EQ(structure(result.graph), "Expand Add");
  EXPECT_TRUE(refuses(result, "'Expand1' not computed: its result of 4294967296 bytes is much larger"));
}

TEST(ConstantFolding, RefusesEndlessWork) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1});
  const ValueId product = b.node("MatMul", {b.filled({1000, 1000}, 1), b.filled({1000, 1000}, 1)});
  const auto result = apply_passes(b.finish({b.node("Add", {x, product})}), {"constant_folding"});
  EXPECT_EQ(structure(result.graph), "MatMul Add");
  EXPECT_TRUE(refuses(result, "operations"));
}

TEST(IdentityRemoval, DropsEveryKindOfNothing) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  ValueId y = b.node("Relu", {x});
  y = b.node("Identity", {y});
  y = b.node("Dropout", {y});
  y = b.node("Cast", {y}, {{"to", int64_t{1}}});
  y = b.node("Add", {y, b.scalar(0)});
  y = b.node("Mul", {b.filled({4, 1, 1}, 1), y});
  y = b.node("Transpose", {y}, {{"perm", std::vector<int64_t>{0, 1, 2, 3}}});
  y = b.node("Pad", {y, b.ints({0, 0, 0, 0, 0, 0, 0, 0})});
  y = b.node("Concat", {y}, {{"axis", int64_t{1}}});
  y = b.node("Reshape", {y, b.ints({0, 4, 6, -1})});
  y = b.node("Sigmoid", {y});
  const auto result = check_pass(b.finish({y}), "identity_removal");
  EXPECT_EQ(structure(result.graph), "Relu Sigmoid");
}

TEST(IdentityRemoval, KeepsTheNameOfAnOutput) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId y = b.node("Identity", {b.node("Relu", {x})});
  EXPECT_EQ(structure(check_pass(b.finish({y}), "identity_removal").graph), "Relu");
}

TEST(IdentityRemoval, KeepsACopyWhereAnOutputWouldBeAnInput) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const auto result = check_pass(b.finish({b.node("Dropout", {x})}), "identity_removal");
  EXPECT_EQ(structure(result.graph), "Identity");
}

TEST(IdentityRemoval, KeepsACopyForASecondOutputName) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId y = b.node("Relu", {x});
  const auto result = check_pass(b.finish({y, b.node("Identity", {y})}), "identity_removal");
  EXPECT_EQ(structure(result.graph), "Relu Identity");
}

TEST(IdentityRemoval, LeavesAdditionsThatBroadcast) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 3});
  const Graph graph = b.finish({b.node("Add", {x, b.filled({4, 3}, 0)})});
  EXPECT_EQ(structure(check_pass(graph, "identity_removal").graph), "Add");
}

TEST(IdentityRemoval, LeavesAReversingSlice) {
  GraphBuilder b;
  const ValueId x = b.input("x", {5});
  const Graph graph = b.finish({b.node("Slice", {x, b.ints({-1}), b.ints({-9}), b.ints({0}), b.ints({-1})})});
  EXPECT_EQ(structure(check_pass(graph, "identity_removal").graph), "Slice");
}

TEST(DeadCode, DropsNodesValuesAndConstants) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId y = b.node("Relu", {x});
  b.node("Sigmoid", {b.node("Add", {y, b.random({4, 1, 1})})});
  const auto result = check_pass(b.finish({y}), "dead_code");
  EXPECT_EQ(structure(result.graph), "Relu");
  EXPECT_EQ(result.graph.values.size(), 2u);
}

}  // namespace
}  // namespace hone::test
