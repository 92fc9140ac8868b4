// The values between the layers of an engine that computes with integers.
#include "backend/hone/layer_values.hpp"

#include <gtest/gtest.h>

#include "device/cpu/cpu_device.hpp"
#include "engine/builder.hpp"
#include "graph/quantized_chain.hpp"
#include "graph/region.hpp"
#include "reference/interpreter.hpp"
#include "support/equivalence.hpp"
#include "transform/pass.hpp"

namespace hone::backend {
namespace {

using tensor::Tensor;

/// Two convolutions of bytes, of which the second one adds the first, as one region.
graph::Graph sum_of_products() {
  test::GraphBuilder b;
  const auto quantized = [&](graph::ValueId x, float scale, int8_t zero) {
    const auto zero_point = b.constant(Tensor::scalar<int8_t>(zero));
    const auto bytes = b.node("QuantizeLinear", {x, b.scalar(scale), zero_point});
    return b.node("DequantizeLinear", {bytes, b.scalar(scale), zero_point});
  };
  const auto convolution = [&](graph::ValueId x) {
    const auto weights = b.constant(Tensor::of<int8_t>(std::vector<int8_t>(16 * 16, 3), {16, 16, 1, 1}));
    return b.node("Conv", {x, b.node("DequantizeLinear", {weights, b.scalar(0.01F)})});
  };
  const auto x = quantized(b.input("x", {1, 16, 3, 3}), 0.5F, 0);
  const auto sum = b.node("Add", {quantized(convolution(x), 0.02F, 5), convolution(x)});
  graph::Graph graph = b.finish({b.node("Relu", {quantized(sum, 0.03F, -7)})});
  transform::optimize(graph,
                      {.requested = {"quantized_weights", "quantized_fusion", "quantized_sum_fusion"}});
  return graph;
}

TEST(LayerValues, BytesOfARegionWithinARegionStandForNumbers) {
  const graph::Graph graph = sum_of_products();
  const graph::Node* region = nullptr;
  for (const graph::Node& node : graph.nodes) {
    if (graph::kind_of(node) == graph::kQuantizedSum) region = &node;
  }
  ASSERT_NE(region, nullptr);
  engine::BuildOptions options;
  options.optimization_level = 0;
  const auto engine = engine::build_engine(graph, device::cpu::cpu_device(), options);
  const auto inputs = test::random_inputs(graph, 1, 1);
  const LayerValues values = engine_values(*engine, {}, 1, inputs, {});
  // A Relu is all that comes after them.
  const auto expected = reference::run_graph(graph, inputs)[0].to_double();
  const auto found = values.find(graph.value(region->outputs[0]).name);
  ASSERT_NE(found, values.end());
  const auto numbers = found->second.to_double();
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(std::max(numbers[i], 0.0), expected[i], 0.031);
}

}  // namespace
}  // namespace hone::backend
