// Matrix products of the CPU by each of their tactics.
#include <gtest/gtest.h>

#include "device/cpu/cpu_steps.hpp"
#include "transform/pass.hpp"

namespace hone::device {
namespace {

using test::GraphBuilder;

/// Rows times a constant matrix, a GELU with the error function, and a residual.
graph::Graph gelu_product() {
  GraphBuilder b;
  const auto product = b.node("MatMul", {b.input("x", {2, 5, 24}), b.random({24, 40})});
  const auto biased = b.node("Add", {product, b.random({40})});
  return b.finish({b.node("Add", {b.node("Gelu", {biased}), b.input("shortcut", {2, 5, 40})})});
}

TEST(CpuMatrix, AGeluMayRunBehindTheProduct) {
  const graph::Graph given = gelu_product();
  graph::Graph graph = given;
  transform::optimize(graph, {});
  ASSERT_EQ(graph.nodes.size(), 1U);
  const engine::Device& device = device::cpu::cpu_device();
  engine::ProgramOptions options;
  options.plans[{0, {}}] = {{"onednn_inner_product_then_gelu", {}}, engine::Layout::kPlain, {}, 0};
  engine::WeightStore store;
  const std::shared_ptr<const engine::Program> program =
      engine::build_program(std::make_shared<const graph::Graph>(graph), device, store, options);
  ASSERT_EQ(program->steps().size(), 1U);
  EXPECT_EQ(program->steps()[0].plan.tactic.text(), "onednn_inner_product_then_gelu");
  const auto inputs = test::random_inputs(given, 5, 1);
  const auto actual = engine::Execution(program, device).run(inputs);
  EXPECT_LE(test::relative_error(actual[0], reference::run_graph(given, inputs)[0]),
            test::rounding_tolerance(given));
}

}  // namespace
}  // namespace hone::device
