// Group normalization on the CPU in the layout of its input, where nothing around it wants another one.
#include <gtest/gtest.h>

#include "device/cpu/cpu_steps.hpp"

namespace hone::device {
namespace {

using graph::ValueId;
using test::GraphBuilder;

TEST(CpuGroupNorm, IsNormalizedAsItLies) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 32, 9, 7});
  const auto graph = std::make_shared<const graph::Graph>(
      b.finish({b.node("InstanceNormalization", {x, b.random({32}), b.random({32})})}));
  const engine::Device& device = cpu::cpu_device();
  for (const engine::Layout layout : device.image_layouts(engine::Precision::kFp32)) {
    engine::WeightStore weights;
    const engine::Plans plans = {{{0, {}}, {{"group_norm_plain", {}}, layout, {}, 0}}};
    const std::shared_ptr<const engine::Program> program =
        engine::build_program(graph, device, weights, {.layout = layout, .plans = plans});
    ASSERT_EQ(program->steps().size(), 1U) << "nothing is rearranged";
    EXPECT_EQ(program->steps()[0].plan.tactic.name, "group_norm_plain");
    const auto inputs = test::random_inputs(*graph, 3, 1);
    const auto actual = engine::Execution(program, device).run(inputs);
    EXPECT_LE(test::relative_error(actual[0], reference::run_graph(*graph, inputs)[0]), 1e-6);
  }
}

}  // namespace
}  // namespace hone::device
