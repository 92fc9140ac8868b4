// Models of float16, which engines compute in a precision of their own.
#include <gtest/gtest.h>

#include "device/devices.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

using test::GraphBuilder;
using test::Tensor;

/// A convolution, an activation and a product with a matrix, all of float16.
graph::Graph half_network() {
  GraphBuilder b;
  const auto half = [&](const test::Shape& shape, uint32_t seed) {
    return b.constant(test::random_tensor(shape, seed, -0.5, 0.5).cast(DType::kFloat16));
  };
  const auto x = b.input("x", {test::Dim::symbol("N"), 8, 6, 6}, DType::kFloat16);
  const auto y =
      b.node("Conv", {x, half({16, 8, 3, 3}, 5), half({16}, 6)}, {{"pads", std::vector<int64_t>(4, 1)}});
  const auto z = b.node("Flatten", {b.node("GlobalAveragePool", {b.node("Relu", {y})})});
  return b.finish({b.node("MatMul", {z, half({16, 5}, 7)})});
}

TEST(HalfModel, IsComputedByTheKernelsOfOtherModels) {
  const Device& device = device::find_device("cpu");
  BuildOptions options;
  options.optimization_level = 0;
  const graph::Graph graph = half_network();
  Context context(build_engine(graph, device, options), device, 1);
  const auto inputs = test::random_inputs(graph, 3, 2);
  const Tensor actual = context.run(inputs)[0];
  EXPECT_EQ(actual.dtype(), DType::kFloat16);
  // The reference rounds behind each of five nodes, the engine the result alone.
  EXPECT_LE(test::relative_error(actual, reference::run_graph(graph, inputs)[0]), 6 * 0x1p-11);
  const std::vector<Shape> shapes = {inputs[0].shape()};
  for (const ProgramStep& step : context.program(shapes).steps())
    EXPECT_TRUE(step.plan.tactic.name != "reference" || step.kind == "Cast") << step.name;
}

}  // namespace
}  // namespace hone::engine
