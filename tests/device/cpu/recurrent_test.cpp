// LSTM, GRU and RNN through oneDNN against the reference kernels: every operator, direction, layout and set
// of operands; the sentences of what is refused; an engine of open shapes, stored and loaded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "device/cpu/cpu_device.hpp"
#include "device/cpu/recurrent_layers.hpp"
#include "device/cpu/tile_math.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "engine/engine_file.hpp"

namespace hone::device::cpu {
namespace {

using engine::Context;
using engine::Program;
using engine::ProgramStep;
using graph::Dim;
using graph::ValueId;
using tensor::Shape;
using tensor::Tensor;
using test::graph_of;
using test::GraphBuilder;
using test::Layer;
using test::state_error;
using test::tolerance;

constexpr const char* kTactic = "onednn_recurrent";
constexpr int kThreads = 2;

std::shared_ptr<engine::Engine> build(const graph::Graph& graph,
                                      engine::Precision precision = engine::Precision::kFp32) {
  engine::BuildOptions options;
  options.model = "test";
  options.threads = kThreads;
  options.optimization_level = 0;
  options.precision = precision;
  options.default_batch = 4;
  return engine::build_engine(graph, cpu_device(), options);
}

const ProgramStep& step_of(Context& context, const std::vector<Tensor>& inputs) {
  std::vector<Shape> shapes;
  for (const Tensor& input : inputs) shapes.push_back(input.shape());
  const auto& steps = context.program(shapes).steps();
  return *std::find_if(steps.begin(), steps.end(), [](const ProgramStep& step) { return step.node >= 0; });
}

/// That this tactic runs the node, and the outputs are the reference's.
void expect_right(const graph::Graph& graph, const std::vector<Tensor>& inputs, Context& context,
                  double limit, const std::string& tactic = kTactic) {
  const ProgramStep& step = step_of(context, inputs);
  EXPECT_EQ(step.plan.tactic.text(), tactic) << (step.refusals.empty() ? "" : texts_of(step.refusals)[0]);
  const auto expected = reference::run_graph(graph, inputs);
  const auto actual = context.run(inputs);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_LE(state_error(actual[i], expected[i]), limit) << "output " << i;
}

void expect_right(const Layer& layer) {
  const graph::Graph graph = graph_of(layer);
  Context context(build(graph), cpu_device(), kThreads);
  expect_right(graph, test::random_inputs(graph, 3, 1), context, tolerance(layer, layer.steps.value()));
}

class EveryLayer : public ::testing::TestWithParam<std::tuple<std::string, std::string, int64_t>> {
 protected:
  Layer layer() const {
    const auto& [op, direction, layout] = GetParam();
    Layer layer{.op = op, .direction = direction, .layout = layout};
    if (op != "linear_before_reset") return layer;
    layer.op = "GRU";
    layer.linear_before_reset = 1;
    return layer;
  }
};

TEST_P(EveryLayer, WithAndWithoutEachOperand) {
  for (const unsigned given : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U}) {
    for (const unsigned outputs : {1U, 2U, 3U, 4U, 5U, 6U, 7U}) {
      Layer each = layer();
      each.bias = (given & 1) != 0;
      each.initial_h = (given & 2) != 0;
      each.initial_c = (given & 4) != 0;
      each.outputs = outputs;
      if (each.op != "LSTM" && (each.initial_c || outputs >= 4)) continue;
      SCOPED_TRACE(fmt::format("operands {}, outputs {}", given, outputs));
      expect_right(each);
    }
  }
}

TEST_P(EveryLayer, OfSizesThatOneDnnTreatsApart) {
  const std::pair<int64_t, int64_t> kStepsAndBatch[] = {{1, 1}, {1, 5}, {6, 1}, {3, 17}, {2, 130}};
  for (const auto& [steps, batch] : kStepsAndBatch) {
    // 64 units make rows of 1 KiB, which are kept apart.
    for (const int64_t hidden : {1, 16, 64}) {
      Layer each = layer();
      each.steps = steps;
      each.batch = batch;
      each.hidden = hidden;
      SCOPED_TRACE(fmt::format("{} steps, batch {}, {} units", steps, batch, hidden));
      expect_right(each);
    }
  }
}

TEST_P(EveryLayer, OfEmptyInputsKeepsItsInitialStates) {
  const std::pair<int64_t, int64_t> kStepsAndBatch[] = {{0, 3}, {4, 0}};
  for (const auto& [steps, batch] : kStepsAndBatch) {
    for (const bool given : {false, true}) {
      for (const unsigned outputs : {1U, 2U, 7U}) {
        Layer each = layer();
        each.initial_h = each.initial_c = given;
        each.outputs = outputs;
        each.steps = steps;
        each.batch = batch;
        expect_right(each);
      }
    }
  }
}

TEST_P(EveryLayer, OfValuesThatSaturateOrAreNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float value : {-kInfinity, -1e30F, -100.0F, 100.0F, 1e30F, kInfinity, std::nanf("")}) {
    SCOPED_TRACE(value);
    const Layer each = layer();
    const graph::Graph graph = graph_of(each);
    Context context(build(graph), cpu_device(), kThreads);
    auto inputs = test::random_inputs(graph, 3, 1);
    inputs[0].mutable_values<float>()[0] = value;
    expect_right(graph, inputs, context, tolerance(each, each.steps.value()));
  }
}

INSTANTIATE_TEST_SUITE_P(, EveryLayer,
                         ::testing::Combine(::testing::Values("LSTM", "GRU", "linear_before_reset", "RNN"),
                                            ::testing::Values("forward", "reverse", "bidirectional"),
                                            ::testing::Values(0, 1)),
                         [](const auto& test) {
                           return fmt::format("{}_{}_layout{}", std::get<0>(test.param),
                                              std::get<1>(test.param), std::get<2>(test.param));
                         });

TEST(Recurrent, NamesOfDefaultActivationsMayBeGiven) {
  Layer layer{.direction = "bidirectional"};
  layer.attributes = {
      {"activations", std::vector<std::string>{"Sigmoid", "Tanh", "Tanh", "Sigmoid", "Tanh", "Tanh"}}};
  expect_right(layer);
}

TEST(Recurrent, RunsInFloat32WhenBfloat16IsAsked) {
  const Layer layer;
  const graph::Graph graph = graph_of(layer);
  Context context(build(graph, engine::Precision::kBf16), cpu_device(), kThreads);
  // Inputs and results may be rounded, by half a unit in the last of 8 bits; a rounded input of 6 is one of
  // 13 terms, whose errors the steps add up.
  expect_right(graph, test::random_inputs(graph, 3, 1), context, 8 * 0x1p-9);
}

struct Refusal {
  Layer layer;
  std::string sentence;
  test::Extra extra = {};
};

TEST(Recurrent, RefusesInOneSentence) {
  const auto lengths = [](std::vector<int32_t> values) {
    return [values](GraphBuilder& b, std::vector<ValueId>& inputs) {
      inputs[4] = b.constant(Tensor::of<int32_t>(values, {3}));
    };
  };
  const auto variable = [](GraphBuilder& b, std::vector<ValueId>& inputs) {
    inputs[2] = b.input("r", *b.type(inputs[2]).dims);
  };
  const Refusal cases[] = {
      {{}, "the weights are not constant", variable},
      {{.features = 0}, "the input has no features"},
      {{.steps = 0}, "sequences may be shorter than the input", lengths({0, 0, 1})},
  };
  for (const Refusal& test : cases) {
    SCOPED_TRACE(test.sentence);
    const graph::Graph graph = graph_of(test.layer, test.extra);
    Context context(build(graph), cpu_device(), kThreads);
    const auto inputs = test::random_inputs(graph, 3, 1);
    EXPECT_THAT(texts_of(step_of(context, inputs).refusals),
                ::testing::Contains(fmt::format("{}: {}", kTactic, test.sentence)));
  }
}

/// Options that oneDNN lacks, each with the reason.
TEST(Recurrent, HandsOptionsThatOneDnnLacksOn) {
  if (!has_tiles(TileType::kFloat32)) GTEST_SKIP() << "this CPU has no AVX2";
  using Names = std::vector<std::string>;
  const auto lengths = [](GraphBuilder& b, std::vector<ValueId>& inputs) {
    inputs[4] = b.constant(Tensor::of<int32_t>({5, 0, 3}, {3}));
  };
  const auto peepholes = [](GraphBuilder& b, std::vector<ValueId>& inputs) {
    inputs.push_back(b.random({1, 21}));
  };
  const Refusal cases[] = {
      {{.attributes = {{"activations", Names{"Sigmoid", "Tanh", "Relu"}}}},
       "an activation is not the default one"},
      {{.op = "RNN", .attributes = {{"activations", Names{"Relu"}}}}, "an activation is not the default one"},
      {{.attributes = {{"clip", 0.5f}}}, "gates are clipped"},
      {{.attributes = {{"input_forget", int64_t{1}}}}, "the input gate is tied to the forget gate"},
      {{}, "gates see the cell state (peepholes)", peepholes},
      {{}, "sequences may be shorter than the input", lengths},
  };
  for (const Refusal& test : cases) {
    SCOPED_TRACE(test.sentence);
    const graph::Graph graph = graph_of(test.layer, test.extra);
    Context context(build(graph), cpu_device(), kThreads);
    const auto inputs = test::random_inputs(graph, 3, 1);
    EXPECT_THAT(texts_of(step_of(context, inputs).refusals),
                ::testing::ElementsAre(fmt::format("{}: {}", kTactic, test.sentence)));
    expect_right(graph, inputs, context, tolerance(test.layer, 5), "tiled_recurrent");
  }
}

TEST(Recurrent, RefusesOtherElementTypes) {
  GraphBuilder b;
  const auto weights = [&](Shape shape) {
    return b.constant(test::random_tensor(shape, 1).cast(tensor::DType::kFloat64));
  };
  const auto graph = b.finish({b.node(
      "RNN", {b.input("x", {2, 1, 3}, tensor::DType::kFloat64), weights({1, 4, 3}), weights({1, 4, 4})})});
  Context context(build(graph), cpu_device(), kThreads);
  EXPECT_THAT(texts_of(step_of(context, test::random_inputs(graph, 3, 1)).refusals),
              ::testing::ElementsAre("onednn_recurrent: only float32 models",
                                     "tiled_recurrent: only float32 models"));
}

/// Engines of open shapes, written to a file and read again.
class StoredLayer : public ::testing::Test {
 protected:
  ~StoredLayer() override { std::filesystem::remove(path_); }

  std::shared_ptr<engine::Engine> stored(const engine::Engine& built) {
    engine::save_engine(built, cpu_device(), path_);
    return engine::load_engine(path_);
  }

  static std::vector<Tensor> inputs_of(const graph::Graph& graph, int64_t steps, int64_t batch) {
    std::vector<Tensor> inputs = test::random_inputs(graph, 3, batch);
    const Shape& x = inputs[0].shape();
    inputs[0] = test::random_tensor({steps, batch, x[2]}, 4);
    return inputs;
  }

  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / fmt::format("hone-recurrent-{}.hone", ::getpid());
};

TEST_F(StoredLayer, RunsAtAllShapesFromThePackedWeightsAlone) {
  for (const char* op : {"LSTM", "GRU", "RNN"}) {
    SCOPED_TRACE(op);
    const Layer layer{.op = op,
                      .direction = "bidirectional",
                      .linear_before_reset = 1,
                      .steps = Dim::symbol("t"),
                      .batch = Dim::symbol("n"),
                      .features = 48,
                      .hidden = 300};
    const graph::Graph graph = graph_of(layer);
    const auto engine = stored(*build(graph));
    EXPECT_EQ(engine->weights.entries().size(), 6U) << "two directions of three constants";
    for (const graph::Value& value : engine->graph->values)
      EXPECT_TRUE(!value.constant || value.constant->bytes() == nullptr) << value.name << " is stored twice";
    for (const int threads : {1, 2}) {
      const auto loaded = std::make_shared<engine::LoadedEngine>(engine, cpu_device(), threads);
      Context context(loaded);
      const int64_t packed = loaded->packed_bytes();
      for (const auto& [steps, batch] : {std::pair{1, 1}, {7, 2}, {3, 20}, {0, 2}, {2, 0}})
        expect_right(graph, inputs_of(graph, steps, batch), context, tolerance(layer, steps));
      EXPECT_EQ(loaded->packed_bytes(), packed) << "something was packed again";
    }
  }
}

TEST_F(StoredLayer, WithConstantLengthsRunsByOtherTacticsAtOtherLengths) {
  const Layer layer{.steps = Dim::symbol("t"), .features = 48, .initial_h = false, .initial_c = false};
  const graph::Graph graph = graph_of(layer, [](GraphBuilder& b, std::vector<ValueId>& inputs) {
    inputs[4] = b.constant(Tensor::of<int32_t>({4, 4, 4}, {3}));
  });
  const auto engine = stored(*build(graph));
  Context context(engine, cpu_device(), kThreads);
  expect_right(graph, inputs_of(graph, 4, 3), context, tolerance(layer, 4));
  expect_right(graph, inputs_of(graph, 6, 3), context, tolerance(layer, 6),
               has_tiles(TileType::kFloat32) ? "tiled_recurrent" : "reference");
}

TEST_F(StoredLayer, RefusesPackedWeightsOfAnotherSize) {
  const Layer layer{.initial_h = false, .initial_c = false};
  const auto engine = build(graph_of(layer));
  const auto [constant, format] = engine->weights.entries().begin()->first;
  engine->weights.keep_only({});
  engine->weights.add({constant, format}, Tensor(tensor::DType::kUInt8, {4}));
  try {
    Context context(engine, cpu_device(), kThreads);
    context.run(test::random_inputs(graph_of(layer), 3, 1));
    FAIL() << "4 bytes were taken for the weights";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_NE(std::string(error.what()).find("has 4 bytes, its format needs"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace hone::device::cpu
