// Facts about operators that others rely on: who has which trait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "graph/operator.hpp"

namespace hone::graph {
namespace {

using testing::ElementsAre;

std::vector<std::string> with(const std::function<bool(const Traits&)>& has) {
  std::vector<std::string> names;
  for (const OperatorDef& def : operator_table()) {
    if (has(def.traits)) names.push_back(def.name);
  }
  return names;
}

TEST(OperatorTraits, NameProductsAndWhatSumsProducts) {
  EXPECT_THAT(with([](const Traits& t) { return t.product == Product::kConvolution; }),
              ElementsAre("Conv", "ConvInteger", "ConvTranspose", "FusedConv", "QLinearConv"));
  EXPECT_THAT(with([](const Traits& t) { return t.product == Product::kMatrices; }),
              ElementsAre("FusedGemm", "FusedMatMul", "Gemm", "MatMul", "MatMulInteger", "QLinearMatMul"));
  EXPECT_THAT(with([](const Traits& t) { return t.sums_products && t.product == Product::kNone; }),
              ElementsAre("DeformConv", "Einsum", "GRU", "LSTM", "RNN"));
  EXPECT_TRUE(with([](const Traits& t) { return !t.sums_products && t.product != Product::kNone; }).empty());
}

TEST(OperatorTraits, NameWhatIsAboutIntegersWithScales) {
  EXPECT_THAT(with([](const Traits& t) { return t.quantization; }),
              ElementsAre("ConvInteger", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger",
                          "QLinearConv", "QLinearMatMul", "QuantizeLinear"));
}

TEST(OperatorTraits, NameWhatOnlyMovesOrConverts) {
  EXPECT_THAT(with([](const Traits& t) { return t.moves_only; }),
              ElementsAre("Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "Identity", "Reshape",
                          "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"));
  EXPECT_THAT(with([](const Traits& t) { return t.converts; }), ElementsAre("Cast", "CastLike"));
}

TEST(OperatorTraits, NameInputsThatArePlacesAndIndices) {
  EXPECT_THAT(with([](const Traits& t) { return t.first_place_input == 1; }),
              ElementsAre("GridSample", "MaxRoiPool", "Resize", "RoiAlign"));
  EXPECT_THAT(with([](const Traits& t) { return t.indexes_axis; }),
              ElementsAre("Gather", "GatherElements", "ScatterElements"));
}

TEST(OperatorTraits, NameFunctionsByWhatTheyMakeOfFactorsAndErrors) {
  EXPECT_THAT(with([](const Traits& t) { return t.periodic; }), ElementsAre("Cos", "Sin", "Tan"));
  EXPECT_THAT(with([](const Traits& t) { return t.scales_with_input; }),
              ElementsAre("Abs", "AveragePool", "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool",
                          "Identity", "LeakyRelu", "LpPool", "MaxPool", "Neg", "Relu"));
  EXPECT_THAT(
      with([](const Traits& t) { return t.activation; }),
      ElementsAre("Celu", "Clip", "Elu", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish", "PRelu",
                  "Relu", "Selu", "Shrink", "Sigmoid", "Softplus", "Softsign", "Tanh", "ThresholdedRelu"));
}

}  // namespace
}  // namespace hone::graph
