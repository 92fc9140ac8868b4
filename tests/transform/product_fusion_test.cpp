// Matrix products, their canonical form and what they absorb; chains of elementwise nodes.
#include "support/passes.hpp"

namespace hone::test {
namespace {

const Dims kRows = {Dim::symbol("N"), 6};
const Dims kTokens = {Dim::symbol("N"), 5, 6};

TEST(GemmCanonical, MatMulWithBias) {
  GraphBuilder b;
  const ValueId x = b.input("x", kRows);
  const ValueId y = b.node("Add", {b.random({4}), b.node("MatMul", {x, b.random({6, 4})})});
  const auto result = check_pass(b.finish({y}), "gemm_canonical");
  EXPECT_EQ(structure(result.graph), "Gemm");
  EXPECT_EQ(result.graph.nodes[0].name, "MatMul1 + Add1");
}

TEST(GemmCanonical, ResidualIsNoBias) {
  GraphBuilder b;
  const ValueId x = b.input("x", kRows);
  const ValueId y = b.node("Add", {b.node("MatMul", {x, b.random({6, 6})}), x});
  EXPECT_EQ(structure(check_pass(b.finish({y}), "gemm_canonical").graph), "MatMul Add");
}

TEST(GemmCanonical, FactorsAndTransposedOperands) {
  GraphBuilder b;
  const ValueId x = b.input("x", {6, Dim::symbol("N")});
  const ValueId turned = b.node("Transpose", {x}, {{"perm", std::vector<int64_t>{1, 0}}});
  const ValueId y = b.node("Gemm", {turned, b.random({4, 6}), b.random({4})},
                           {{"transB", int64_t{1}}, {"alpha", 0.5f}, {"beta", 3.0f}});
  const Graph graph = b.finish({y});
  check_pass(graph, "gemm_canonical");
  const auto result = apply_passes(graph, {"gemm_canonical", "dead_code"});
  ASSERT_EQ(structure(result.graph), "Gemm");
  const graph::Attributes& attributes = result.graph.nodes[0].attributes;
  EXPECT_EQ(attributes.get_float("alpha"), 1);
  EXPECT_EQ(attributes.get_float("beta"), 1);
  EXPECT_EQ(attributes.get_int("transA"), 1);
  EXPECT_EQ(attributes.get_int("transB"), 1);
}

TEST(EinsumLowering, MakesProductsOfAttention) {
  struct Case {
    const char* equation;
    Dims a, b;
    const char* structure;
  };
  const Dim n = Dim::symbol("N");
  const Case cases[] = {
      {"bhid,bhdj->bhij", {n, 2, 5, 4}, {n, 2, 4, 3}, "MatMul"},
      {"bhid,bhjd->bhij", {n, 2, 5, 4}, {n, 2, 3, 4}, "Transpose MatMul"},
      {"bhid,bhjd->bhji", {n, 2, 5, 4}, {n, 2, 3, 4}, "Transpose MatMul"},
      {"bihd,bjhd->bhij", {n, 5, 2, 4}, {n, 3, 2, 4}, "Transpose Transpose MatMul"},
      {"bhij,bjhd->bihd", {n, 2, 5, 3}, {n, 3, 2, 4}, "Transpose MatMul Transpose"},
      {"...ij,...jk->...ik", {n, 2, 5, 4}, {n, 1, 4, 3}, "MatMul"},
      {"ij,jk", {5, 4}, {4, 3}, "MatMul"},
      {"ji,kj->ik", {4, 5}, {3, 4}, "MatMul Transpose"},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.equation);
    GraphBuilder b;
    const ValueId y = b.node("Einsum", {b.input("a", test.a), b.input("b", test.b)},
                             {{"equation", std::string(test.equation)}});
    EXPECT_EQ(structure(check_pass(b.finish({y}), "einsum_lowering").graph), test.structure);
  }
}

TEST(EinsumLowering, TransposesOneOperand) {
  GraphBuilder b;
  const ValueId y = b.node("Einsum", {b.input("x", {2, 3, 4})}, {{"equation", std::string("abc->cab")}});
  EXPECT_EQ(structure(check_pass(b.finish({y}), "einsum_lowering").graph), "Transpose");
}

TEST(EinsumLowering, LeavesWhatIsNoProduct) {
  struct Case {
    const char* equation;
    std::vector<Dims> inputs;
  };
  const Case cases[] = {
      {"ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 5}}},  // three operands
      {"ii,ij->ij", {{3, 3}, {3, 4}}},             // a diagonal
      {"ij,jk->ik", {{2, 1}, {3, 4}}},             // spreads a size of 1
      {"bi,bijk->bjk", {{1, 3}, {2, 3, 4, 5}}},    // spreads one, and groups others
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.equation);
    GraphBuilder b;
    std::vector<ValueId> inputs;
    for (size_t i = 0; i < test.inputs.size(); ++i)
      inputs.push_back(b.input("x" + std::to_string(i), test.inputs[i]));
    const ValueId y = b.node("Einsum", inputs, {{"equation", std::string(test.equation)}});
    EXPECT_EQ(structure(check_pass(b.finish({y}), "einsum_lowering").graph), "Einsum");
  }
}

TEST(EinsumLowering, SumsGroupsAndMultipliesElements) {
  struct Case {
    const char* equation;
    std::vector<Dims> inputs;
    const char* structure;
  };
  const Case cases[] = {
      {"ij,jk->i", {{2, 3}, {3, 4}}, "ReduceSum Reshape Reshape MatMul Reshape"},
      {"ij,kl->ijkl", {{2, 3}, {4, 5}}, "Unsqueeze Unsqueeze Mul"},
      {"bij,bjkl->bikl", {{2, 3, 4}, {2, 4, 5, 6}}, "Reshape Reshape MatMul Reshape"},
      {"bhtd,de->bhte", {{2, 3, 4, 5}, {5, 6}}, "MatMul"},
      {"de,bhtd->bhte", {{5, 6}, {2, 3, 4, 5}}, "MatMul"},
      {"bthd,hde->bte", {{2, 3, 4, 5}, {4, 5, 6}}, "Reshape Reshape MatMul Reshape"},
      {"bi,bi->b", {{2, 3}, {2, 3}}, "Reshape Reshape MatMul Reshape"},
      {"bi,ci->bci", {{2, 3}, {4, 3}}, "Unsqueeze Unsqueeze Mul"},
      {"i,j->ji", {{3}, {4}}, "Unsqueeze Unsqueeze Mul"},
      {"ij->i", {{2, 3}}, "ReduceSum"},
      {"ijk->ki", {{2, 3, 4}}, "ReduceSum Transpose"},
      {"bc,bchw->bchw", {{1, 3}, {2, 3, 4, 5}}, "Unsqueeze Mul"},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.equation);
    GraphBuilder b;
    std::vector<ValueId> inputs;
    for (size_t i = 0; i < test.inputs.size(); ++i)
      inputs.push_back(b.input("x" + std::to_string(i), test.inputs[i]));
    const ValueId y = b.node("Einsum", inputs, {{"equation", std::string(test.equation)}});
    EXPECT_EQ(structure(check_pass(b.finish({y}), "einsum_lowering").graph), test.structure);
  }
}

TEST(MatMulFusion, BiasActivationAndResidualOfTokens) {
  GraphBuilder b;
  const ValueId x = b.input("x", kTokens);
  ValueId y = b.node("Add", {b.node("MatMul", {x, b.random({6, 6})}), b.random({6})});
  y = b.node("Add", {b.node("Gelu", {y}), x});
  const auto result = check_pass(b.finish({y}), "matmul_fusion");
  EXPECT_EQ(structure(result.graph), "FusedMatMul[gelu_erf,add]");
  EXPECT_EQ(result.graph.nodes[0].inputs.size(), 4u);
}

TEST(MatMulFusion, ScoresWithScaleAndMask) {
  GraphBuilder b;
  const ValueId q = b.input("q", kTokens);
  const ValueId k = b.input("k", {Dim::symbol("N"), 6, 5});
  const ValueId mask = b.input("mask", {Dim::symbol("N"), 1, 5});
  const ValueId scores = b.node("Mul", {b.node("MatMul", {q, k}), b.scalar(0.4f)});
  const auto result = check_pass(b.finish({b.node("Add", {scores, mask})}), "matmul_fusion");
  EXPECT_EQ(structure(result.graph), "FusedMatMul[mul,add]");
}

TEST(DivisionByConstant, BecomesAProduct) {
  GraphBuilder b;
  const ValueId x = b.input("x", kTokens);
  const ValueId y = b.node("Div", {x, b.random({6}, 1, 2)});
  EXPECT_EQ(structure(check_pass(b.finish({y}), "division_by_constant").graph), "Mul");
}

TEST(DivisionByConstant, RefusesZero) {
  GraphBuilder b;
  const ValueId x = b.input("x", kTokens);
  const auto result = check_pass(b.finish({b.node("Div", {x, b.scalar(0)})}), "division_by_constant");
  EXPECT_EQ(structure(result.graph), "Div");
  EXPECT_TRUE(refuses(result, "has no reciprocal"));
}

TEST(MatMulFusion, GemmWithActivation) {
  GraphBuilder b;
  const ValueId x = b.input("x", kRows);
  const ValueId y = b.node("Gemm", {x, b.random({6, 4}), b.random({4})});
  EXPECT_EQ(structure(check_pass(b.finish({b.node("Relu", {y})}), "matmul_fusion").graph), "FusedGemm[relu]");
}

TEST(MatMulFusion, GemmWithoutBiasTakesAResidual) {
  GraphBuilder b;
  const ValueId x = b.input("x", kRows);
  const ValueId y = b.node("Gemm", {x, b.random({6, 6})});
  const auto result = check_pass(b.finish({b.node("Add", {x, y})}), "matmul_fusion");
  ASSERT_EQ(structure(result.graph), "FusedGemm[add]");
  EXPECT_EQ(result.graph.nodes[0].inputs[2], kNoValue);
}

TEST(MatMulFusion, LeavesAnOperandThatIsRepeatedOverTheBatch) {
  GraphBuilder b;
  const ValueId x = b.input("x", kTokens);
  const ValueId y = b.node("MatMul", {x, b.random({6, 6})});
  const auto result = check_pass(b.finish({b.node("Add", {y, b.random({1, 5, 6})})}), "matmul_fusion");
  EXPECT_EQ(structure(result.graph), "MatMul Add");
  EXPECT_TRUE(refuses(result, "float32[1x5x6] is repeated over float32[Nx5x6]"));
}

TEST(MatMulFusion, RefusesSecondReaders) {
  GraphBuilder b;
  const ValueId x = b.input("x", kTokens);
  const ValueId y = b.node("MatMul", {x, b.random({6, 6})});
  const auto result = check_pass(b.finish({b.node("Relu", {y}), b.node("Tanh", {y})}), "matmul_fusion");
  EXPECT_EQ(structure(result.graph), "MatMul Relu Tanh");
  EXPECT_TRUE(refuses(result, "the result of 'MatMul1' has 2 readers"));
}

TEST(MatMulFusion, StaysWhenDisabled) {
  GraphBuilder b;
  const ValueId x = b.input("x", kTokens);
  Graph graph = b.finish({b.node("Relu", {b.node("MatMul", {x, b.random({6, 6})})})});
  transform::optimize(graph, {.disabled = {"matmul_fusion"}});
  EXPECT_EQ(structure(graph), "MatMul Relu");
}

TEST(ElementwiseFusion, ChainWithExtraOperands) {
  GraphBuilder b;
  const ValueId x = b.input("x", kTokens);
  const ValueId gate = b.input("gate", {Dim::symbol("N"), 1, 6});
  ValueId y = b.node("Mul", {gate, x});
  y = b.node("Sub", {b.node("Relu", {y}), b.random({6})});
  const auto result = check_pass(b.finish({b.node("Tanh", {y})}), "elementwise_fusion");
  EXPECT_EQ(structure(result.graph), "FusedElementwise[mul,relu,sub,tanh]");
  EXPECT_EQ(result.graph.nodes[0].name, "Mul1 + Relu1 + Sub1 + Tanh1");
}

TEST(ElementwiseFusion, OneNodeAloneStays) {
  GraphBuilder b;
  const ValueId x = b.input("x", kTokens);
  EXPECT_EQ(structure(check_pass(b.finish({b.node("Relu", {x})}), "elementwise_fusion").graph), "Relu");
}

TEST(ElementwiseFusion, RefusesAResultThatIsNeededElsewhere) {
  GraphBuilder b;
  const ValueId x = b.input("x", kTokens);
  const ValueId y = b.node("Relu", {x});
  const auto result = check_pass(b.finish({y, b.node("Tanh", {y})}), "elementwise_fusion");
  EXPECT_EQ(structure(result.graph), "Relu Tanh");
  EXPECT_TRUE(refuses(result, "'Relu1' + 'Tanh1' not fused: the result of 'Relu1' is needed elsewhere"));
}

TEST(ElementwiseFusion, RefusesAResultThatGrows) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 6});
  const ValueId y = b.input("y", {4, 6});
  const auto result = check_pass(b.finish({b.node("Add", {b.node("Relu", {x}), y})}), "elementwise_fusion");
  EXPECT_EQ(structure(result.graph), "Relu Add");
  EXPECT_TRUE(refuses(result, "does not surely broadcast"));
}

TEST(ElementwiseFusion, LeavesIntegersAlone) {
  GraphBuilder b;
  const ValueId x = b.input("x", {3}, DType::kInt64);
  const Graph graph = b.finish({b.node("Mul", {b.node("Add", {x, b.ints({1, 2, 3})}), b.ints({2, 2, 2})})});
  EXPECT_EQ(structure(check_pass(graph, "elementwise_fusion").graph), "Add Mul");
}

}  // namespace
}  // namespace hone::test
