// Helpers of the tests of the CPU's own kernels: one node by each of its tactics, in every layout, against
// the reference.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "engine/program/execution.hpp"
#include "support/equivalence.hpp"

namespace hone::test {

/// Runs the graph by the device's favourites in every layout; each step must run by a tactic of the device
/// and each output be as close to the reference's as a few roundings a node allow.
inline void expect_own_steps(const Graph& graph, const std::vector<Tensor>& inputs) {
  const engine::Device& device = device::cpu::cpu_device();
  const auto expected = reference::run_graph(graph, inputs);
  std::vector<engine::Layout> layouts = device.image_layouts(engine::Precision::kFp32);
  layouts.push_back(engine::Layout::kPlain);
  for (const engine::Layout layout : layouts) {
    engine::WeightStore weights;
    const std::shared_ptr<const engine::Program> program =
        engine::build_program(std::make_shared<const Graph>(graph), device, weights, {.layout = layout});
    for (const engine::ProgramStep& step : program->steps()) EXPECT_FALSE(step.runs_on_host()) << step.name;
    const auto actual = engine::Execution(program, device).run(inputs);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      EXPECT_LE(relative_error(actual[i], expected[i]), rounding_tolerance(graph))
          << "output " << i << ", layout " << engine::layout_name(layout);
    }
  }
}

}  // namespace hone::test
