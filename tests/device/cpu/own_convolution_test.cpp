// Convolutions with loops of ours against the reference: windows of every kind, several blocks of pixels,
// channels and filters, groups, and what may follow.
#include <gtest/gtest.h>

#include <algorithm>

#include "device/cpu/cpu_steps.hpp"
#include "device/cpu/tile_math.hpp"
#include "transform/pass.hpp"

namespace hone::device {
namespace {

using tensor::Tensor;
using test::GraphBuilder;
using Ints = std::vector<int64_t>;

/// The outputs when all nodes run by the tactic, which must take them.
std::vector<Tensor> run_by(const char* tactic, const graph::Graph& given, const std::vector<Tensor>& inputs) {
  graph::Graph graph = given;
  transform::optimize(graph, {});
  const engine::Device& device = cpu::cpu_device();
  engine::ProgramOptions options;
  options.layout = engine::Layout::kChannelsLast;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    options.plans[{static_cast<int32_t>(i), {}}] = {{tactic, {}}, options.layout, {}, 0};
  engine::WeightStore store;
  const std::shared_ptr<const engine::Program> program =
      engine::build_program(std::make_shared<const graph::Graph>(graph), device, store, options);
  const auto own = std::ranges::count_if(
      program->steps(), [&](const engine::ProgramStep& step) { return step.plan.tactic.text() == tactic; });
  EXPECT_EQ(own, std::ssize(graph.nodes));
  return engine::Execution(program, device).run(inputs);
}

void expect_right(const char* tactic, const graph::Graph& graph, const std::vector<Tensor>& inputs) {
  const auto expected = reference::run_graph(graph, inputs);
  const engine::Device& device = cpu::cpu_device();
  for (const int threads : {1, 2, 7}) {
    device.set_threads(threads);
    const auto actual = run_by(tactic, graph, inputs);
    EXPECT_LE(test::relative_error(actual[0], expected[0]), test::rounding_tolerance(graph))
        << threads << " threads";
  }
  device.set_threads(2);
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

graph::Graph graph_of(const Layer& layer, int64_t group) {
  GraphBuilder b;
  const auto y = b.node(
      "Conv",
      {b.input("x", dims_of(layer.image)), b.constant(test::random_tensor(layer.filters, 3)),
       b.constant(test::random_tensor({layer.filters[0]}, 4))},
      {{"pads", layer.pads}, {"strides", layer.strides}, {"dilations", layer.dilations}, {"group", group}});
  return b.finish({y});
}

/// A convolution, and a ReLU and a sum in either order.
void expect_post_ops(const char* tactic, const tensor::Shape& image, const tensor::Shape& filters,
                     int64_t group) {
  const tensor::Shape result = {image[0], filters[0], image[2], image[3]};
  for (const bool first : {false, true}) {
    GraphBuilder b;
    auto y = b.node("Conv", {b.input("x", dims_of(image)), b.constant(test::random_tensor(filters, 3))},
                    {{"pads", Ints{1, 1, 1, 1}}, {"group", group}});
    const auto shortcut = b.input("shortcut", dims_of(result));
    if (first) y = b.node("Add", {y, shortcut});
    y = b.node("Relu", {y});
    if (!first) y = b.node("Add", {y, shortcut});
    expect_right(tactic, b.finish({y}), {test::random_tensor(image, 5), test::random_tensor(result, 7)});
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
    expect_right("tiled_convolution", graph_of(layer, 1), {test::random_tensor(layer.image, 5)});
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
    expect_right("grouped_convolution", graph_of(layer, group), {test::random_tensor(layer.image, 5)});
  }
}

TEST_F(OwnConvolution, TakesWhatFollows) {
  expect_post_ops("tiled_convolution", {1, 70, 10, 10}, {40, 70, 3, 3}, 1);
  expect_post_ops("grouped_convolution", {1, 64, 10, 10}, {64, 4, 3, 3}, 16);
}

}  // namespace
}  // namespace hone::device
