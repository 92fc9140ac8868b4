// Convolutions with loops of ours against the reference: windows of every kind, several blocks of pixels,
// channels and filters, groups, and what may follow.
#include <gtest/gtest.h>

#include <algorithm>

#include "device/cpu/cpu_steps.hpp"
#include "device/cpu/instructions.hpp"
#include "device/cpu/tile_math.hpp"
#include "transform/pass.hpp"

namespace hone::device {
namespace {

using tensor::Tensor;
using test::GraphBuilder;
using Ints = std::vector<int64_t>;

/// How a step is to run.
struct Way {
  const char* tactic;
  engine::Layout layout = engine::Layout::kChannelsLast;
  engine::Precision precision = engine::Precision::kFp32;
};

/// The outputs when all nodes run that way, which their tactic must take.
std::vector<Tensor> run_by(const Way& way, const graph::Graph& given, const std::vector<Tensor>& inputs) {
  graph::Graph graph = given;
  transform::optimize(graph, {});
  const engine::Device& device = cpu::cpu_device();
  engine::ProgramOptions options;
  options.layout = way.layout;
  options.policy = device.policy_for(way.precision);
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    options.plans[{static_cast<int32_t>(i), {}}] = {{way.tactic, {}}, options.layout, options.policy, 0};
  engine::WeightStore store;
  const std::shared_ptr<const engine::Program> program =
      engine::build_program(std::make_shared<const graph::Graph>(graph), device, store, options);
  const auto own = std::ranges::count_if(program->steps(), [&](const engine::ProgramStep& step) {
    return step.plan.tactic.text() == way.tactic;
  });
  EXPECT_EQ(own, std::ssize(graph.nodes));
  return engine::Execution(program, device).run(inputs);
}

void expect_right(const Way& way, const graph::Graph& graph, const std::vector<Tensor>& inputs) {
  const auto expected = reference::run_graph(graph, inputs);
  const engine::Device& device = cpu::cpu_device();
  const bool half = way.precision == engine::Precision::kBf16;
  // Operands are rounded to 8 bits.
  const double tolerance = half ? 1.0 / 128 : test::rounding_tolerance(graph);
  for (const int threads : {1, 2, 7}) {
    device.set_threads(threads);
    const auto actual = run_by(way, graph, inputs);
    EXPECT_LE(test::relative_error(actual[0], expected[0]), tolerance)
        << threads << " threads, " << engine::layout_name(way.layout) << (half ? ", bf16" : "");
  }
  device.set_threads(2);
}

/// The ways of the tactic on this CPU.
std::vector<Way> ways_of(const char* tactic, const std::vector<engine::Layout>& layouts) {
  std::vector<Way> ways;
  for (const engine::Layout layout : layouts) {
    ways.push_back({tactic, layout});
    if (cpu::has_avx512_bf16()) ways.push_back({tactic, layout, engine::Precision::kBf16});
  }
  return ways;
}

struct Layer {
  const char* what;
  tensor::Shape image;
  tensor::Shape filters;
  Ints pads = {0, 0, 0, 0};
  Ints strides = {1, 1};
  Ints dilations = {1, 1};
};

graph::Dims dims_of(const tensor::Shape& shape) { return {shape.begin(), shape.end()}; }

graph::Graph graph_of(const Layer& layer, int64_t group, const char* activation = nullptr) {
  GraphBuilder b;
  auto y = b.node(
      "Conv",
      {b.input("x", dims_of(layer.image)), b.constant(test::random_tensor(layer.filters, 3)),
       b.constant(test::random_tensor({layer.filters[0]}, 4))},
      {{"pads", layer.pads}, {"strides", layer.strides}, {"dilations", layer.dilations}, {"group", group}});
  if (activation != nullptr) y = b.node("Mul", {y, b.node(activation, {y})});
  return b.finish({y});
}

/// A convolution, and an activation and a sum in either order.
void expect_post_ops(const Way& way, const tensor::Shape& image, const tensor::Shape& filters, int64_t group,
                     const char* activation = "Relu") {
  const tensor::Shape result = {image[0], filters[0], image[2], image[3]};
  const int64_t pad = (filters[2] - 1) / 2;
  for (const bool first : {false, true}) {
    GraphBuilder b;
    auto y = b.node("Conv", {b.input("x", dims_of(image)), b.constant(test::random_tensor(filters, 3))},
                    {{"pads", Ints{pad, pad, pad, pad}}, {"group", group}});
    const auto shortcut = b.input("shortcut", dims_of(result));
    if (first) y = b.node("Add", {y, shortcut});
    y = b.node(activation, {y});
    if (!first) y = b.node("Add", {y, shortcut});
    expect_right(way, b.finish({y}), {test::random_tensor(image, 5), test::random_tensor(result, 7)});
  }
}

class OwnConvolution : public testing::Test {
 protected:
  void SetUp() override {
    if (!cpu::has_tiles(cpu::TileType::kFloat32)) GTEST_SKIP() << "this CPU has no AVX2";
  }
};

TEST_F(OwnConvolution, TakesEveryWindow) {
  const Layer layers[] = {
      {"one pixel", {1, 5, 1, 1}, {8, 5, 1, 1}},
      {"1 x 1 of two images", {2, 17, 9, 11}, {33, 17, 1, 1}},
      {"1 x 1 with a stride", {1, 40, 9, 11}, {24, 40, 1, 1}, {0, 0, 0, 0}, {2, 2}},
      {"3 x 3", {1, 16, 13, 14}, {40, 16, 3, 3}, {1, 1, 1, 1}},
      {"the first layer of a network", {1, 3, 33, 35}, {16, 3, 7, 7}, {3, 3, 3, 3}, {2, 2}},
      {"more padding at the ends", {1, 3, 16, 16}, {16, 3, 3, 3}, {0, 0, 1, 1}, {2, 2}},
      {"a window as wide as the image", {1, 6, 4, 5}, {8, 6, 4, 5}},
      {"a row", {1, 20, 1, 50}, {32, 20, 1, 5}, {0, 2, 0, 2}},
      {"many channels", {1, 130, 7, 7}, {20, 130, 3, 3}, {1, 1, 1, 1}},
      {"channels for several sums", {1, 1100, 5, 5}, {16, 1100, 3, 3}, {1, 1, 1, 1}},
      {"taps for several sums", {1, 64, 12, 12}, {64, 64, 5, 5}, {2, 2, 2, 2}},
      {"dilated by 2", {1, 24, 14, 14}, {16, 24, 3, 3}, {2, 2, 2, 2}, {1, 1}, {2, 2}},
      {"dilated by half the image", {1, 130, 28, 28}, {16, 130, 3, 3}, {12, 12, 12, 12}, {1, 1}, {12, 12}},
      {"dilated by nearly the image", {1, 130, 28, 28}, {16, 130, 3, 3}, {24, 24, 24, 24}, {1, 1}, {24, 24}},
      {"dilated beyond the image", {1, 130, 28, 28}, {16, 130, 3, 3}, {36, 36, 36, 36}, {1, 1}, {36, 36}},
      {"dilated along rows alone", {1, 8, 20, 90}, {16, 8, 1, 3}, {0, 40, 0, 40}, {1, 1}, {1, 40}},
      {"windows of padding alone", {1, 8, 4, 4}, {16, 8, 1, 1}, {2, 3, 1, 2}},
  };
  for (const Layer& layer : layers) {
    SCOPED_TRACE(layer.what);
    expect_right({"tiled_convolution"}, graph_of(layer, 1), {test::random_tensor(layer.image, 5)});
  }
}

TEST_F(OwnConvolution, TakesGroups) {
  struct Grouped {
    int64_t group;
    Layer layer;
  };
  const Grouped layers[] = {
      {2, {"two halves of a vector", {1, 8, 5, 5}, {8, 4, 3, 3}, {1, 1, 1, 1}}},
      {32, {"groups of 4", {2, 128, 13, 17}, {128, 4, 3, 3}, {1, 1, 1, 1}}},
      {32, {"groups of 4 with a stride", {1, 128, 14, 14}, {128, 4, 3, 3}, {1, 1, 1, 1}, {2, 2}}},
      {32, {"groups of 8", {1, 256, 14, 14}, {256, 8, 3, 3}, {1, 1, 1, 1}}},
      {3, {"groups of 16 of 5", {1, 15, 9, 9}, {48, 5, 3, 3}, {1, 0, 1, 2}}},
      {5, {"groups of 24", {1, 120, 28, 28}, {120, 24, 3, 3}, {1, 1, 1, 1}, {2, 2}}},
      {4, {"groups of 32", {1, 128, 7, 7}, {128, 32, 3, 3}, {1, 1, 1, 1}}},
      {4, {"groups of 40, dilated", {1, 160, 9, 9}, {160, 40, 3, 3}, {2, 2, 2, 2}, {1, 1}, {2, 2}}},
      {2, {"padding wider than the image", {1, 16, 3, 3}, {16, 8, 1, 1}, {4, 5, 4, 5}}},
      {16, {"more than a strip", {1, 256, 60, 61}, {256, 16, 5, 3}, {2, 1, 2, 1}}},
  };
  for (const auto& [group, layer] : layers) {
    SCOPED_TRACE(layer.what);
    expect_right({"grouped_convolution"}, graph_of(layer, group), {test::random_tensor(layer.image, 5)});
  }
}

TEST_F(OwnConvolution, TakesWhatFollows) {
  expect_post_ops({"tiled_convolution"}, {1, 70, 10, 10}, {40, 70, 3, 3}, 1);
  expect_post_ops({"grouped_convolution"}, {1, 64, 10, 10}, {64, 4, 3, 3}, 16);
}

TEST_F(OwnConvolution, TakesPixels) {
  const Layer layers[] = {
      {"one pixel", {1, 5, 1, 1}, {8, 5, 1, 1}},
      {"two images, an odd number of channels", {2, 17, 9, 11}, {33, 17, 1, 1}},
      {"few channels", {1, 16, 30, 31}, {96, 16, 1, 1}},
      {"channels for several sums", {1, 2100, 3, 5}, {300, 2100, 1, 1}},
      {"one filter", {1, 24, 5, 5}, {1, 24, 1, 1}},
  };
  for (const Way& way : ways_of("tiled_pixels", {engine::Layout::kChannelsLast})) {
    for (const Layer& layer : layers) {
      SCOPED_TRACE(layer.what);
      expect_right(way, graph_of(layer, 1, "Sigmoid"), {test::random_tensor(layer.image, 5)});
    }
    for (const char* activation : {"Sigmoid", "Gelu"}) {
      expect_post_ops(way, {1, 70, 10, 10}, {40, 70, 1, 1}, 1, activation);
      expect_post_ops(way, {1, 1100, 5, 5}, {270, 1100, 1, 1}, 1, activation);
    }
  }
}

TEST_F(OwnConvolution, TakesChannelsWithFiltersOfTheirOwn) {
  if (!cpu::has_avx512()) GTEST_SKIP() << "this CPU has no AVX-512";
  const Layer layers[] = {
      {"two channels", {1, 2, 5, 5}, {2, 1, 3, 3}, {1, 1, 1, 1}},
      {"3 x 3", {1, 32, 56, 56}, {32, 1, 3, 3}, {1, 1, 1, 1}},
      {"3 x 3 of two images", {2, 40, 13, 29}, {40, 1, 3, 3}, {1, 1, 1, 1}},
      {"3 x 3 with a stride", {1, 96, 33, 57}, {96, 1, 3, 3}, {1, 1, 1, 1}, {2, 2}},
      {"5 x 5", {1, 48, 14, 15}, {48, 1, 5, 5}, {2, 2, 2, 2}},
      {"5 x 5 on small images", {1, 73, 4, 3}, {73, 1, 5, 5}, {2, 2, 2, 2}},
      {"7 x 7", {1, 65, 8, 31}, {65, 1, 7, 7}, {3, 3, 3, 3}},
      {"uneven padding, as of TensorFlow", {1, 24, 16, 16}, {24, 1, 3, 3}, {0, 0, 1, 1}, {2, 2}},
      {"no padding", {1, 17, 9, 9}, {17, 1, 3, 3}},
      {"dilated", {1, 33, 20, 20}, {33, 1, 3, 3}, {4, 4, 4, 4}, {1, 1}, {4, 4}},
      {"strides of rows alone", {1, 20, 19, 9}, {20, 1, 3, 1}, {1, 0, 1, 0}, {3, 1}},
      {"rows that no window reads", {1, 18, 9, 9}, {18, 1, 1, 1}, {0, 0, 0, 0}, {2, 2}},
      {"padding wider than the image", {1, 16, 2, 3}, {16, 1, 1, 1}, {4, 5, 4, 5}},
      {"a line", {1, 50, 1, 61}, {50, 1, 1, 9}, {0, 4, 0, 4}},
  };
  for (const Way& way :
       ways_of("depthwise_convolution", {engine::Layout::kChannelsLast, engine::Layout::kBlocked16})) {
    for (const Layer& layer : layers) {
      SCOPED_TRACE(layer.what);
      expect_right(way, graph_of(layer, layer.image[1], "Sigmoid"), {test::random_tensor(layer.image, 5)});
    }
    for (const char* activation : {"Sigmoid", "Gelu"})
      expect_post_ops(way, {1, 70, 10, 10}, {70, 1, 3, 3}, 70, activation);
  }
}

/// Filled-up channels are zeros for whoever reads them next, whatever a function makes of zero.
TEST_F(OwnConvolution, LeavesZerosInChannelsThatAreNotThere) {
  if (!cpu::has_avx512()) GTEST_SKIP() << "this CPU has no AVX-512";
  GraphBuilder b;
  const auto y = b.node("Conv", {b.input("x", {1, 20, 6, 6}), b.random({20, 1, 3, 3})},
                        {{"pads", Ints{1, 1, 1, 1}}, {"group", int64_t{20}}});
  graph::Graph graph = b.finish({b.node("Sigmoid", {y})});
  transform::optimize(graph, {});
  engine::WeightStore store;
  engine::ProgramOptions options;
  options.layout = engine::Layout::kBlocked16;
  options.plans[{0, {}}] = {{"depthwise_convolution", {}}, options.layout, options.policy, 0};
  const auto program =
      engine::build_program(std::make_shared<const graph::Graph>(graph), cpu::cpu_device(), store, options);
  const auto step = std::ranges::find(program->steps(), "depthwise_convolution",
                                      [](const engine::ProgramStep& s) { return s.plan.tactic.text(); });
  ASSERT_NE(step, program->steps().end());
  std::vector<float> image(32 * 36, 1.0f);
  std::vector<float> result(image.size(), 7.0f);
  std::vector<std::byte> scratch(static_cast<size_t>(step->scratch_bytes));
  std::vector<const void*> inputs(step->inputs.size());
  inputs[0] = image.data();
  void* const output = result.data();
  step->kernel->run({.inputs = inputs, .outputs = {&output, 1}, .scratch = scratch.data()});
  for (size_t i = 0; i < result.size(); ++i) {
    if (i / (16 * 36) == 1 && i % 16 >= 4)
      EXPECT_EQ(result[i], 0.0f) << i;
    else
      EXPECT_NE(result[i], 0.0f) << i;
  }
}

}  // namespace
}  // namespace hone::device
