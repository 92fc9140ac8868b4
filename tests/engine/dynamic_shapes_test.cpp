// Engines of open shapes at shapes other than the tuned one, where packed weights and batch groups must still
// be right, and tensors of more dimensions than networks have.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "device/cpu/cpu_device.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "engine/engine_file.hpp"
#include "engine/plans.hpp"
#include "engine/shape_profile.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

using graph::Dim;
using test::GraphBuilder;

constexpr const char* kWinograd = "onednn_winograd";
/// Minimal filtering of 4x4 outputs loses some 4 bits to its transforms; filters in the wrong arrangement are
/// wrong by the size of the result.
constexpr double kWinogradTolerance = 1e-4;

const Device& device() { return device::cpu::cpu_device(); }

BuildOptions options() {
  BuildOptions options;
  options.model = "test";
  options.threads = 2;
  options.optimization_level = 0;
  return options;
}

void expect_right(const graph::Graph& graph, const std::vector<tensor::Tensor>& inputs, Context& context,
                  double tolerance) {
  const auto expected = reference::run_graph(graph, inputs);
  const auto actual = context.run(inputs);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_LE(test::relative_error(actual[i], expected[i]), tolerance)
        << "output " << i << " for " << tensor::shape_text(inputs[0].shape());
  }
}

/// A convolution whose tactic is set to Winograd, as a search would have found it the fastest.
class OpenImage : public ::testing::Test {
 protected:
  static constexpr int64_t kChannels = 64;

  OpenImage() {
    GraphBuilder b;
    const auto x = b.input("x", {Dim::symbol("n"), kChannels, Dim::symbol("h"), Dim::symbol("w")});
    graph_ = b.finish({b.conv(x, kChannels, kChannels)});
    path_ = std::filesystem::temp_directory_path() / fmt::format("hone-open-image-{}.hone", ::getpid());
  }
  ~OpenImage() override { std::filesystem::remove(path_); }

  /// Tuned for images of 28 x 28; null where the processor has no such convolution.
  std::shared_ptr<Engine> winograd_engine(int64_t batch) const {
    const Shape tuned = {batch, kChannels, 28, 28};
    BuildOptions build = options();
    build.shapes["x"] = {{1, kChannels, 1, 1}, tuned, {8, kChannels, 64, 64}};
    auto engine = build_engine(graph_, device(), build);
    plan_all(*engine, kWinograd);
    const auto program = compile(*engine, device(), {tuned}, engine->weights);
    if (!uses_winograd(*program)) return nullptr;
    engine->weights.keep_only(program->packed());
    return engine;
  }

  static bool uses_winograd(const Program& program) {
    return std::any_of(program.steps().begin(), program.steps().end(),
                       [](const ProgramStep& step) { return step.plan.tactic.name == kWinograd; });
  }

  void expect_right_everywhere(const std::shared_ptr<Engine>& engine, int threads) const {
    Context context(engine, device(), threads);
    for (const Shape& image :
         {Shape{1, 28, 28}, {2, 1, 1}, {3, 7, 5}, {1, 14, 14}, {2, 9, 9}, {1, 40, 40}, {4, 28, 28}}) {
      const Shape shape = {image[0], kChannels, image[1], image[2]};
      expect_right(graph_, {test::random_tensor(shape, 3)}, context, kWinogradTolerance);
    }
  }

  graph::Graph graph_;
  std::filesystem::path path_;
};

TEST_F(OpenImage, WinogradFiltersOfOtherImagesAreToldApart) {
  for (const int64_t batch : {1, 4}) {
    const auto engine = winograd_engine(batch);
    if (engine == nullptr) GTEST_SKIP() << "oneDNN has no Winograd convolution for this processor";
    expect_right_everywhere(engine, 2);
  }
}

TEST_F(OpenImage, AnEngineFileServesAllShapesOfItsRangeAndAnyThreads) {
  for (const int64_t batch : {1, 4}) {
    const auto engine = winograd_engine(batch);
    if (engine == nullptr) GTEST_SKIP() << "oneDNN has no Winograd convolution for this processor";
    save_engine(*engine, device(), path_);
    for (const int threads : {1, 2}) expect_right_everywhere(load_engine(path_), threads);
  }
}

TEST(WeightStore, FinalFormsDoNotStandForTheConstant) {
  WeightStore store;
  const auto bytes = [] { return tensor::Tensor::of<uint8_t>({1}, {1}); };
  store.add({"w", "!f32:opaque:1"}, bytes());
  store.add({"x", "f32:a:1"}, bytes());
  EXPECT_EQ(store.find_any("w"), nullptr);
  store.add({"w", "f32:a:1"}, bytes());
  ASSERT_NE(store.find_any("w"), nullptr);
  EXPECT_EQ(store.find_any("w")->first.second, "f32:a:1");
}

TEST(OpenRows, AMatrixReadBothWaysIsTwoMatrices) {
  constexpr int64_t kSize = 48;
  GraphBuilder b;
  const auto x = b.input("x", {Dim::symbol("n"), kSize});
  const auto matrix = b.random({kSize, kSize});
  const auto graph =
      b.finish({b.node("Gemm", {x, matrix}, {{"transB", int64_t{1}}}), b.node("MatMul", {x, matrix})});
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("hone-both-ways-{}.hone", ::getpid());
  BuildOptions build = options();
  build.shapes["x"] = {{1, kSize}, {1, kSize}, {64, kSize}};
  const auto engine = build_engine(graph, device(), build);
  save_engine(*engine, device(), path);
  const auto stored = load_engine(path);
  for (const auto& each : {engine, stored}) {
    Context context(each, device(), 2);
    for (const int64_t rows : {1, 2, 33, 64})
      expect_right(graph, test::random_inputs(graph, 3, rows), context, test::rounding_tolerance(graph));
  }
  std::filesystem::remove(path);
}

TEST(OpenBatch, AxesCountedFromTheEndForbidGroupsToo) {
  for (const std::string op : {"Softmax", "LogSoftmax", "Concat"}) {
    for (const int64_t axis : {-2, -1, 0, 1}) {
      GraphBuilder b;
      const auto x = b.input("x", {Dim::symbol("n"), 4});
      const auto y = b.node("Relu", {x});
      const std::vector<graph::ValueId> operands = op == "Concat" ? std::vector{y, x} : std::vector{y};
      const auto graph = b.finish({b.node(op, operands, {{"axis", axis}})});
      EXPECT_EQ(splits_by_batch(graph), axis == 1 || axis == -1) << op << " along " << axis;
    }
  }
}

TEST(OpenBatch, MovesWithinImagesAllowGroups) {
  using Ints = std::vector<int64_t>;
  struct Case {
    bool apart;
    std::string op;
    std::vector<Ints> constants;
    test::AttributeList attributes = {};
  };
  const Case cases[] = {
      {true, "Slice", {{0, 0}, {1, 1}, {-1, 1}}},
      {false, "Slice", {{0, 0}, {1, 1}, {-3, 1}}},
      {false, "Slice", {{0}, {1}}},
      {true, "Transpose", {}, {{"perm", Ints{0, 2, 1}}}},
      {false, "Transpose", {}},
      {true, "Reshape", {{0, 2, 2, -1}}},
      {true, "Unsqueeze", {{2, -1}}},
      {false, "Unsqueeze", {{-4}}},
  };
  for (const Case& test : cases) {
    GraphBuilder b;
    std::vector<graph::ValueId> inputs = {b.input("x", {Dim::symbol("n"), 4, 6})};
    for (const Ints& constant : test.constants) inputs.push_back(b.ints(constant));
    graph::Graph graph = b.finish({b.node(test.op, inputs, test.attributes)});
    EXPECT_EQ(splits_by_batch(graph), test.apart) << test.op;
  }
  GraphBuilder b;
  const auto x = b.input("x", {Dim::symbol("n"), 4, 1, 6});
  EXPECT_TRUE(splits_by_batch(b.finish({b.node("Squeeze", {x, b.ints({2})})})));
}

TEST(OpenBatch, IndicesOfAPoolForbidGroups) {
  for (const int outputs : {1, 2}) {
    GraphBuilder b;
    const auto x = b.input("x", {Dim::symbol("n"), 3, 4, 4});
    const auto graph =
        b.finish(b.nodes("MaxPool", {x}, outputs, {{"kernel_shape", std::vector<int64_t>{2, 2}}}));
    EXPECT_EQ(splits_by_batch(graph), outputs == 1);
  }
}

TEST(OpenBatch, InputsOfAnotherBatchAreRefused) {
  GraphBuilder b;
  const auto x = b.input("x", {Dim::symbol("n"), 4});
  const auto graph = b.finish({b.node("Add", {x, b.input("y", {Dim::symbol("n"), 4})})});
  const auto engine = build_engine(graph, device(), options());
  engine->micro_batch = 2;
  Context context(engine, device(), 1);
  const auto inputs = test::random_inputs(graph, 3, 5);
  expect_right(graph, inputs, context, 0);
  try {
    context.run(std::vector{inputs[0], test::random_tensor({3, 4}, 1)});
    FAIL() << "batches of 5 and 3 were accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_STREQ(error.what(), "dimension 'n' is 5 in input 'x' and 3 in input 'y'");
  }
}

TEST(OpenBatch, InputsOfDifferentBatchesAreNotGrouped) {
  GraphBuilder b;
  const auto x = b.input("x", {Dim::symbol("n"), 4});
  const auto graph = b.finish({b.node("Add", {x, b.input("y", {Dim::symbol("m"), 4})})});
  const auto engine = build_engine(graph, device(), options());
  engine->micro_batch = 2;
  Context context(engine, device(), 1);
  expect_right(graph, {test::random_tensor({6, 4}, 1), test::random_tensor({1, 4}, 2)}, context, 0);
  EXPECT_EQ(context.program(std::vector<Shape>{{6, 4}, {1, 4}}).io_bytes(), (24 + 4 + 24) * 4);
}

TEST(OpenBatch, TunedShapesGiveASymbolOneSize) {
  GraphBuilder b;
  const auto x = b.input("x", {Dim::symbol("n"), 4});
  const auto graph = b.finish({b.node("Add", {x, b.input("y", {Dim::symbol("n"), 4})})});
  BuildOptions build = options();
  build.shapes["y"] = {{1, 4}, {3, 4}, {8, 4}};
  const auto engine = build_engine(graph, device(), build);
  EXPECT_EQ(engine->shapes["x"].opt, (Shape{3, 4})) << "x is tuned for 3 rows too";
  EXPECT_EQ(range_text(engine->shapes["x"]), "0x4 to *x4");
  build.shapes["x"] = {{1, 4}, {2, 4}, {8, 4}};
  try {
    build_engine(graph, device(), build);
    FAIL() << "2 and 3 rows were accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_STREQ(error.what(), "dimension 'n' is 2 in input 'x' and 3 in input 'y'");
  }
}

TEST(OpenRank, ShapesOfAnotherRankAreOutsideTheRange) {
  GraphBuilder b;
  auto graph = b.finish({b.node("Relu", {b.input("x", {4})})});
  for (graph::Value& value : graph.values) value.type.dims.reset();
  BuildOptions build = options();
  build.shapes["x"] = {{1}, {4}, {8}};
  Context context(build_engine(graph, device(), build), device(), 1);
  expect_right(graph, {test::random_tensor({3}, 1)}, context, 0);
  for (const Shape& shape : {Shape{}, Shape{4, 4}, Shape{4, 1, 1, 1, 1}}) {
    try {
      context.run(std::vector{test::random_tensor(shape, 1)});
      FAIL() << tensor::shape_text(shape) << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), fmt::format("input 'x' has shape {}, the engine was built for 1 to 8",
                                          tensor::shape_text(shape)));
    }
  }
}

TEST(OpenBatch, ABatchThatMeetsChannelsForbidsGroups) {
  for (const bool meets : {false, true}) {
    GraphBuilder b;
    const auto x = b.input("x", {Dim::symbol("n"), 3, 4, 4});
    const auto y =
        b.input("y", meets ? graph::Dims{Dim::symbol("n"), 4, 4} : graph::Dims{Dim::symbol("n"), 3, 1, 1});
    EXPECT_EQ(splits_by_batch(b.finish({b.node("Add", {b.node("Relu", {x}), y})})), !meets);
  }
}

/// Two elements in every dimension up to the tenth and in the last, one in the others.
Shape deep_shape(size_t rank) {
  Shape shape(rank, 1);
  for (size_t i = 0; i + 1 < rank && i < 10; ++i) shape[i] = 2;
  shape.back() = 2;
  return shape;
}

TEST(DeepTensors, ElementwiseChainsTakeAnyRank) {
  for (const size_t rank : {9, 10, 12, 33, 64}) {
    const Shape shape = deep_shape(rank);
    Shape broadcast = shape;
    broadcast[1] = broadcast[7] = 1;
    GraphBuilder b;
    const auto x = b.input("x", graph::Dims(shape.begin(), shape.end()));
    const auto y = b.input("y", graph::Dims(broadcast.begin(), broadcast.end()));
    const auto sum = b.node("Add", {b.node("Sigmoid", {x}), x});
    const auto graph = b.finish({b.node("Neg", {x}), b.node("Relu", {b.node("Mul", {sum, y})}), sum});
    const auto engine = build_engine(graph, device(), options());
    Context context(engine, device(), 2);
    expect_right(graph, test::random_inputs(graph, 5, 1), context, test::rounding_tolerance(graph));
    for (const ProgramStep& step : context.program(std::vector<Shape>{shape, broadcast}).steps())
      EXPECT_EQ(step.plan.tactic.name, "chain") << step.name << " of rank " << rank;
  }
}

}  // namespace
}  // namespace hone::engine
