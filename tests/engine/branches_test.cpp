// If in engines: the branch that shapes or constants choose runs as steps of its own, and the other one need
// not fit the shapes.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include "device/cpu/cpu_device.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "engine/description.hpp"
#include "engine/engine_file.hpp"
#include "graph/infer.hpp"
#include "graph/text/parser.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

using tensor::Tensor;

const Device& device() { return device::cpu::cpu_device(); }

BuildOptions options(int level) {
  BuildOptions options;
  options.optimization_level = level;
  options.default_batch = 2;
  return options;
}

/// Rows of 5 and of 8 meet different weights, of which only one fits; both branches call theirs 'w'.
constexpr const char* kByShape = R"(
graph (%x: float32[N, K]) -> (%z) {
  %one = const int64[] 1
  %six = const int64[] 6
  %shape = Shape(%x)
  %k = Gather(%shape, %one)
  %c = Less(%k, %six)
  %y = If(%c, %x) {
    then_branch = graph (%a) -> (%t) {
      %w = const float32[5, 16] seeded(1)
      %m = MatMul(%a, %w)
      %t = Relu(%m)
    },
    else_branch = graph (%a) -> (%e) {
      %w = const float32[8, 16] seeded(2)
      %e = MatMul(%a, %w)
    },
    num_captures = 1
  }
  %z = Neg(%y)
})";

/// The same, where the data decide.
constexpr const char* kByData = R"(
graph (%x: float32[N, K], %c: bool[]) -> (%z) {
  %y = If(%c, %x) {
    then_branch = graph (%a) -> (%t) {
      %w = const float32[5, 16] seeded(1)
      %t = MatMul(%a, %w)
    },
    else_branch = graph (%a) -> (%e) {
      %axes = const int64[1] [0]
      %e = Unsqueeze(%a, %axes)
    },
    num_captures = 1
  }
  %z = Relu(%y)
})";

graph::Graph typed(const char* text) {
  graph::Graph graph = graph::parse_graph(text);
  graph::infer_types(graph);
  return graph;
}

std::map<std::string, ShapeProfile> profile(Shape opt) { return {{"x", {{1, 5}, std::move(opt), {4, 8}}}}; }

Tensor rows(int64_t count, int64_t length) { return test::random_tensor({count, length}, 7); }

void expect_reference(Context& context, const graph::Graph& graph, const std::vector<Tensor>& inputs) {
  const auto expected = reference::run_graph(graph, inputs);
  const auto actual = context.run(inputs);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_LE(test::relative_error(actual[i], expected[i]), test::rounding_tolerance(graph));
}

TEST(Branches, TheShapesOfARunChooseOne) {
  const graph::Graph graph = typed(kByShape);
  for (const int level : {0, 3}) {
    for (const Shape& opt : {Shape{2, 5}, Shape{2, 8}}) {
      BuildOptions build = options(level);
      build.shapes = profile(opt);
      const auto engine = build_engine(graph, device(), build);
      Context context(engine, device(), 1);
      for (const int64_t length : {5, 8, 5}) expect_reference(context, graph, {rows(3, length)});
    }
  }
}

TEST(Branches, RunAsStepsOfTheirOwn) {
  const graph::Graph graph = typed(kByShape);
  BuildOptions build = options(3);
  build.shapes = profile({2, 8});
  const auto engine = build_engine(graph, device(), build);
  LoadedEngine loaded(engine, device(), 1);
  for (const int64_t length : {5, 8}) {
    std::string kinds;
    for (const StepDescription& step : describe(loaded, {{2, length}}).steps)
      kinds += step.kind + (step.tactic == "reference" ? " by reference " : " ");
    EXPECT_EQ(kinds.find("If"), std::string::npos) << kinds;
    EXPECT_NE(kinds.find("MatMul "), std::string::npos) << kinds;
  }
}

TEST(Branches, SurviveTheEngineFile) {
  const graph::Graph graph = typed(kByShape);
  BuildOptions build = options(3);
  build.shapes = profile({2, 8});
  const auto file =
      std::filesystem::path(testing::TempDir()) / fmt::format("branches_test-{}.hone", ::getpid());
  save_engine(*build_engine(graph, device(), build), device(), file);
  Context context(load_engine(file), device(), 1);
  std::filesystem::remove(file);
  for (const int64_t length : {8, 5}) expect_reference(context, graph, {rows(2, length)});
}

TEST(Branches, AreGoneWhereShapesAreFixed) {
  const graph::Graph graph = typed(kByShape);
  BuildOptions build = options(0);
  build.shapes = {{"x", {{2, 8}, {2, 8}, {2, 8}}}};
  const auto engine = build_engine(graph, device(), build);
  EXPECT_EQ(test::structure(*engine->graph), "MatMul Neg");
  Context context(engine, device(), 1);
  expect_reference(context, graph, {rows(2, 8)});
}

TEST(Branches, ThatTheDataChooseMayNotFit) {
  const graph::Graph graph = typed(kByData);
  const auto engine = build_engine(graph, device(), options(3));
  Context context(engine, device(), 1);
  const auto condition = [](bool holds) { return Tensor::of<bool>({holds}, {}); };
  expect_reference(context, graph, {rows(2, 5), condition(true)});
  expect_reference(context, graph, {rows(2, 5), condition(false)});
  expect_reference(context, graph, {rows(2, 8), condition(false)});
  try {
    context.run(std::vector<Tensor>{rows(2, 8), condition(true)});
    FAIL() << "the branch that runs does not fit";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_NE(error.sentence().find("8 columns meet 5 rows"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace hone::engine
