// Squeeze and excitation as one step of the CPU against the reference: in every layout and precision, of
// images that threads share by slices of channels or by pixels.
#include <gtest/gtest.h>

#include <algorithm>

#include "device/cpu/cpu_steps.hpp"
#include "device/cpu/instructions.hpp"
#include "transform/pass.hpp"

namespace hone::device {
namespace {

using engine::Layout;
using engine::Precision;
using tensor::Tensor;
using test::GraphBuilder;

struct Block {
  tensor::Shape image;
  int64_t hidden;
  std::string squeeze = "Relu";
  std::string gate = "Sigmoid";
  bool bias = true;
};

graph::Graph graph_of(const Block& block) {
  GraphBuilder b;
  const auto convolution = [&](graph::ValueId x, const tensor::Shape& filters,
                               const std::string& activation) {
    std::vector<graph::ValueId> inputs = {x, b.random(filters, -0.5, 0.5)};
    if (block.bias) inputs.push_back(b.random({filters[0]}));
    const auto y = b.node("Conv", inputs);
    return activation.empty() ? y : b.node(activation, {y});
  };
  const int64_t channels = block.image[1];
  const auto x = b.input("x", {block.image.begin(), block.image.end()});
  const auto hidden =
      convolution(b.node("GlobalAveragePool", {x}), {block.hidden, channels, 1, 1}, block.squeeze);
  return b.finish({b.node("Mul", {x, convolution(hidden, {channels, block.hidden, 1, 1}, block.gate)})});
}

void expect_right(const Block& block, Layout layout, Precision precision) {
  const engine::Device& device = cpu::cpu_device();
  const graph::Graph original = graph_of(block);
  graph::Graph graph = original;
  transform::optimize(graph, {.requested = device.passes(precision, block.image[0])});
  engine::ProgramOptions options;
  options.layout = layout;
  options.policy = device.policy_for(precision);
  const std::vector<Tensor> inputs = {test::random_tensor(block.image, 5)};
  const auto expected = reference::run_graph(original, inputs);
  const double tolerance = precision == Precision::kBf16 ? 1.0 / 128 : test::rounding_tolerance(original);
  for (const int threads : {1, 2, 7}) {
    device.set_threads(threads);
    engine::WeightStore store;
    const std::shared_ptr<const engine::Program> program =
        engine::build_program(std::make_shared<const graph::Graph>(graph), device, store, options);
    EXPECT_TRUE(std::ranges::any_of(program->steps(), [](const engine::ProgramStep& step) {
      return step.plan.tactic.text() == "squeeze_excite";
    }));
    EXPECT_LE(test::relative_error(engine::Execution(program, device).run(inputs)[0], expected[0]), tolerance)
        << threads << " threads, " << engine::layout_name(layout);
  }
  device.set_threads(2);
}

TEST(CpuSqueezeExcite, IsOneStep) {
  const Block blocks[] = {
      {{1, 8, 1, 2}, 1},
      {{1, 32, 30, 31}, 8, "HardSwish"},
      {{2, 24, 9, 7}, 6, "Relu", "HardSigmoid"},
      {{1, 72, 28, 28}, 24, "Relu", "", false},
      {{3, 200, 7, 5}, 11, ""},
      {{1, 1152, 7, 7}, 48},
      {{1, 16, 130, 131}, 4},
  };
  for (const Block& block : blocks) {
    SCOPED_TRACE(testing::Message() << block.image[1] << " channels, " << block.image[2] << " rows");
    for (const Layout layout : cpu::cpu_device().image_layouts(Precision::kFp32)) {
      expect_right(block, layout, Precision::kFp32);
      if (cpu::has_avx512_bf16()) expect_right(block, layout, Precision::kBf16);
    }
  }
}

}  // namespace
}  // namespace hone::device
