// Recurrent layers in tiles of ours against the reference: every operator, direction, layout and option of
// ONNX, in float32 and in bfloat16, by one thread and by several.
#include <gtest/gtest.h>

#include <algorithm>

#include "device/cpu/cpu_device.hpp"
#include "device/cpu/recurrent_layers.hpp"
#include "device/cpu/tile_math.hpp"
#include "engine/program/execution.hpp"

namespace hone::device::cpu {
namespace {

using engine::Precision;
using graph::ValueId;
using tensor::Tensor;
using test::GraphBuilder;
using test::Layer;

std::vector<Tensor> run_tiled(const graph::Graph& graph, Precision precision,
                              const std::vector<Tensor>& inputs) {
  engine::ProgramOptions options;
  options.policy = cpu_device().policy_for(precision);
  options.plans[{0, {}}] = {{"tiled_recurrent", {}}, engine::Layout::kPlain, {}, 0};
  engine::WeightStore store;
  const std::shared_ptr<const engine::Program> program =
      engine::build_program(std::make_shared<const graph::Graph>(graph), cpu_device(), store, options);
  for (const engine::ProgramStep& step : program->steps()) {
    if (step.node < 0) continue;
    EXPECT_EQ(step.plan.tactic.text(), "tiled_recurrent");
  }
  return engine::Execution(program, cpu_device()).run(inputs);
}

void expect_right(const Layer& layer, const test::Extra& extra = {}) {
  const graph::Graph graph = test::graph_of(layer, extra);
  const auto inputs = test::random_inputs(graph, 3, 1);
  const auto expected = reference::run_graph(graph, inputs);
  for (const int threads : {1, 3}) {
    cpu_device().set_threads(threads);
    const auto actual = run_tiled(graph, Precision::kFp32, inputs);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_LE(test::state_error(actual[i], expected[i]), test::tolerance(layer, layer.steps.value()))
          << "output " << i << ", " << threads << " threads";
    }
    if (!has_tiles(TileType::kBFloat16)) continue;
    const auto half = run_tiled(graph, Precision::kBf16, inputs);
    // Inputs, weights and states are rounded to 8 bits; gates flatten the sums of such errors.
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_LE(test::state_error(half[i], expected[i]), 16 * 0x1p-9) << "output " << i << " in bf16";
  }
  cpu_device().set_threads(2);
}

class EveryTiledLayer : public ::testing::TestWithParam<std::tuple<std::string, std::string, int64_t>> {
 protected:
  void SetUp() override {
    if (!has_tiles(TileType::kFloat32)) GTEST_SKIP() << "this CPU has no AVX2";
  }

  Layer layer() const {
    const auto& [op, direction, layout] = GetParam();
    Layer layer{.op = op, .direction = direction, .layout = layout};
    if (op != "linear_before_reset") return layer;
    layer.op = "GRU";
    layer.linear_before_reset = 1;
    return layer;
  }
};

TEST_P(EveryTiledLayer, WithAndWithoutEachOperand) {
  for (const unsigned given : {0U, 1U, 6U, 7U}) {
    for (const unsigned outputs : {1U, 2U, 4U, 7U}) {
      Layer each = layer();
      each.bias = (given & 1) != 0;
      each.initial_h = each.initial_c = (given & 2) != 0;
      each.outputs = outputs;
      if (each.op != "LSTM" && outputs == 4) continue;
      SCOPED_TRACE(fmt::format("operands {}, outputs {}", given, outputs));
      expect_right(each);
    }
  }
}

TEST_P(EveryTiledLayer, OfManySizes) {
  struct Size {
    int64_t steps, batch, features, hidden;
  };
  // Odd ones, several panels, several blocks of units, more rows than a tile has, and several chunks of
  // steps.
  for (const Size& size : {Size{1, 1, 1, 1},
                           {6, 1, 33, 31},
                           {3, 17, 6, 70},
                           {2, 130, 5, 32},
                           {130, 1, 7, 5},
                           {2, 2, 1030, 3},
                           {2, 2, 3, 1030}}) {
    Layer each = layer();
    each.steps = size.steps;
    each.batch = size.batch;
    each.features = size.features;
    each.hidden = size.hidden;
    SCOPED_TRACE(fmt::format("{} steps, batch {}, {} features, {} units", size.steps, size.batch,
                             size.features, size.hidden));
    expect_right(each);
  }
}

TEST_P(EveryTiledLayer, OfSeveralLengths) {
  expect_right(layer(), [&](GraphBuilder& b, std::vector<ValueId>& inputs) {
    inputs[4] = b.constant(Tensor::of<int32_t>({3, 0, 5}, {3}));
  });
}

TEST_P(EveryTiledLayer, WithClippedGates) {
  Layer each = layer();
  each.attributes = {{"clip", 0.5F}};
  expect_right(each);
}

INSTANTIATE_TEST_SUITE_P(, EveryTiledLayer,
                         ::testing::Combine(::testing::Values("LSTM", "GRU", "linear_before_reset", "RNN"),
                                            ::testing::Values("forward", "reverse", "bidirectional"),
                                            ::testing::Values(0, 1)),
                         [](const auto& test) {
                           return fmt::format("{}_{}_layout{}", std::get<0>(test.param),
                                              std::get<1>(test.param), std::get<2>(test.param));
                         });

class TiledRecurrent : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_tiles(TileType::kFloat32)) GTEST_SKIP() << "this CPU has no AVX2";
  }
};

TEST_F(TiledRecurrent, HasEveryActivation) {
  for (const char* name : {"Relu", "Tanh", "Sigmoid", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh",
                           "HardSigmoid", "Elu", "Softsign", "Softplus"}) {
    SCOPED_TRACE(name);
    using Names = std::vector<std::string>;
    expect_right({.op = "RNN", .hidden = 20, .attributes = {{"activations", Names{name}}}});
  }
}

TEST_F(TiledRecurrent, KeepsNaNsAndHugeNumbersInTheirSequences) {
  const Layer layer;
  const graph::Graph graph = test::graph_of(layer);
  for (const float value : {std::numeric_limits<float>::infinity(), -1e30F, std::nanf("")}) {
    SCOPED_TRACE(value);
    auto inputs = test::random_inputs(graph, 3, 1);
    inputs[0].mutable_values<float>()[0] = value;
    const auto expected = reference::run_graph(graph, inputs);
    const auto actual = run_tiled(graph, Precision::kFp32, inputs);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_LE(test::state_error(actual[i], expected[i]), test::tolerance(layer, 5)) << "output " << i;
  }
}

TEST_F(TiledRecurrent, SeesTheCellThroughPeepholes) {
  for (const int64_t coupled : {0, 1}) {
    const Layer layer{.direction = "bidirectional", .hidden = 40, .attributes = {{"input_forget", coupled}}};
    expect_right(layer, [](GraphBuilder& b, std::vector<ValueId>& inputs) {
      inputs.push_back(b.random({2, 3 * 40}));
    });
  }
}

TEST_F(TiledRecurrent, ReadsLengthsWhenItRuns) {
  const Layer layer{.direction = "bidirectional"};
  const graph::Graph graph = test::graph_of(layer, [](GraphBuilder& b, std::vector<ValueId>& inputs) {
    inputs[4] = b.input("lengths", {3}, tensor::DType::kInt32);
  });
  auto inputs = test::random_inputs(graph, 3, 1);
  Tensor& lengths = *std::ranges::find(inputs, tensor::DType::kInt32, &Tensor::dtype);
  lengths = Tensor::of<int32_t>({0, 5, 2}, {3});
  const auto expected = reference::run_graph(graph, inputs);
  const auto actual = run_tiled(graph, Precision::kFp32, inputs);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_LE(test::state_error(actual[i], expected[i]), test::tolerance(layer, 5)) << "output " << i;
  lengths = Tensor::of<int32_t>({0, 6, 2}, {3});
  try {
    run_tiled(graph, Precision::kFp32, inputs);
    FAIL() << "a sequence is longer than the input";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_STREQ(error.what(), "input 4 holds the length 6, outside [0, 5]");
  }
}

}  // namespace
}  // namespace hone::device::cpu
