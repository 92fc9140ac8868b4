// Elementwise steps of the CPU, by what their operands are.
#include <gtest/gtest.h>

#include "device/cpu/cpu_device.hpp"
#include "engine/program/execution.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

using test::GraphBuilder;

/// A chain has operands for each row of plain images only, so the image is arranged so.
TEST(CpuElementwise, OperandsForEachRowAreAddedToAnImageInAnotherLayout) {
  const Device& device = device::cpu::cpu_device();
  GraphBuilder b;
  const auto x = b.conv(b.input("x", {1, 16, 6, 6}), 16, 16);
  const graph::Graph graph = b.finish({b.node("Relu", {b.node("Add", {x, b.random({6, 1})})})});
  for (const Layout layout : device.image_layouts(Precision::kFp32)) {
    WeightStore weights;
    const std::shared_ptr<const Program> program =
        build_program(std::make_shared<const graph::Graph>(graph), device, weights, {.layout = layout});
    for (const ProgramStep& step : program->steps()) EXPECT_FALSE(step.runs_on_host()) << step.name;
    const auto inputs = test::random_inputs(graph, 3, 1);
    EXPECT_LE(test::relative_error(Execution(program, device).run(inputs)[0],
                                   reference::run_graph(graph, inputs)[0]),
              test::rounding_tolerance(graph));
  }
}

}  // namespace
}  // namespace hone::engine
