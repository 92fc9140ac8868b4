// How far quantized_weights looks for the integers of weights.
#include <gtest/gtest.h>

#include "graph/infer.hpp"
#include "support/graph_builder.hpp"
#include "transform/quantized_passes.hpp"

namespace hone::transform {
namespace {

using test::GraphBuilder;

/// Integers of weights behind so many nodes that change nothing.
graph::Graph chained(int nodes) {
  GraphBuilder b;
  const auto scale = b.constant(tensor::Tensor::of<float>({0.5F}, {}));
  auto weights = b.constant(tensor::Tensor::of<int8_t>({1, 2, 3, 4}, {2, 2}));
  for (int i = 0; i < nodes; ++i) weights = b.node("Identity", {weights});
  const auto x = b.node("DequantizeLinear", {b.input("x", {1, 2}, tensor::DType::kUInt8), scale});
  return b.finish({b.node("MatMul", {x, b.node("DequantizeLinear", {weights, scale})})});
}

TEST(QuantizedWeights, AreLookedForBehindAFewNodes) {
  graph::Graph few = chained(4);
  EXPECT_EQ(quantized_weights(few).changes, 1);
  graph::Graph many = chained(64);
  EXPECT_EQ(quantized_weights(many).changes, 0);
}

}  // namespace
}  // namespace hone::transform
