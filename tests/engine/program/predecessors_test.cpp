// The edges of a program, found from the places of operands, against those of its graph, found from values.
#include "engine/program/predecessors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "device/cpu/cpu_device.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "engine/description.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

using graph::Dim;
using test::GraphBuilder;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Edges = std::vector<std::vector<int32_t>>;

std::shared_ptr<Engine> build(const graph::Graph& graph, Layout layout = Layout::kPlain) {
  BuildOptions options;
  options.model = "test";
  options.threads = 1;
  options.optimization_level = 0;
  const auto engine = build_engine(graph, device::cpu::cpu_device(), options);
  engine->layout = layout;
  return engine;
}

/// For each node of the program's graph, the nodes with a step of their own whose results it reads, through
/// those that have none: by the graph, or by the steps.
std::map<int32_t, std::set<int32_t>> reads_by_graph(const Program& program) {
  std::set<int32_t> with_step;
  for (const ProgramStep& step : program.steps()) with_step.insert(step.node);
  const Edges edges = graph::node_predecessors(program.graph());
  std::vector<std::set<int32_t>> makers(edges.size());
  std::map<int32_t, std::set<int32_t>> result;
  for (size_t i = 0; i < edges.size(); ++i) {
    const auto node = static_cast<int32_t>(i);
    for (const int32_t from : edges[i]) makers[i].merge(std::set(makers[static_cast<size_t>(from)]));
    if (!with_step.contains(node)) continue;
    result[node] = std::exchange(makers[i], {node});
  }
  return result;
}

std::map<int32_t, std::set<int32_t>> reads_by_steps(const Program& program) {
  const Edges edges = find_predecessors(program.steps());
  std::vector<std::set<int32_t>> makers(edges.size());
  std::map<int32_t, std::set<int32_t>> result;
  for (size_t i = 0; i < edges.size(); ++i) {
    const int32_t node = program.steps()[i].node;
    for (const int32_t from : edges[i]) {
      EXPECT_LT(from, static_cast<int32_t>(i));
      makers[i].merge(std::set(makers[static_cast<size_t>(from)]));
    }
    if (node >= 0) result[node] = std::exchange(makers[i], {node});
  }
  return result;
}

void expect_same_edges(const graph::Graph& graph, const std::vector<Shape>& shapes) {
  for (const Layout layout : {Layout::kPlain, Layout::kChannelsLast, Layout::kBlocked8}) {
    Context context(build(graph, layout), device::cpu::cpu_device(), 1);
    const Program& program = context.program(shapes);
    EXPECT_EQ(reads_by_steps(program), reads_by_graph(program)) << layout_name(layout);
  }
}

/// Sums in place, of which one operand is read again later, so that the engine copies it first.
TEST(Predecessors, OfResidualBlocksAreThoseOfTheGraph) {
  GraphBuilder b;
  auto x = b.node("Relu", {b.conv(b.input("x", {Dim::symbol("n"), 3, 16, 16}), 3, 16)});
  std::vector<graph::ValueId> sums;
  for (int i = 0; i < 4; ++i) {
    x = b.node("Add", {b.conv(b.node("Relu", {b.conv(x, 16, 16)}), 16, 16), x});
    sums.push_back(b.node("MaxPool", {x}, {{"kernel_shape", std::vector<int64_t>{2, 2}}}));
  }
  auto flat = b.node("Flatten", {b.node("GlobalAveragePool", {x})});
  const auto graph =
      b.finish({b.node("Softmax", {flat}), flat, b.node("Concat", sums, {{"axis", int64_t{1}}})});
  for (const int64_t batch : {1, 2}) expect_same_edges(graph, {{batch, 3, 16, 16}});
}

TEST(Predecessors, OfConcatenationsWithoutACopyAreTheirParts) {
  GraphBuilder b;
  std::vector<graph::ValueId> features = {b.conv(b.input("x", {Dim::symbol("n"), 16, 8, 8}), 16, 16)};
  for (int i = 0; i < 4; ++i)
    features.push_back(b.conv(b.node("Concat", features, {{"axis", int64_t{1}}}), 16 * (i + 1), 16));
  const auto graph = b.finish({b.node("Concat", features, {{"axis", int64_t{1}}})});
  for (const int64_t batch : {1, 2}) expect_same_edges(graph, {{batch, 16, 8, 8}});
  Context context(build(graph), device::cpu::cpu_device(), 1);
  const std::vector<Shape> shapes = {{1, 16, 8, 8}};
  const auto reads = reads_by_steps(context.program(shapes));
  EXPECT_EQ(std::prev(reads.end(), 2)->second.size(), 4U) << "the last convolution reads all before it";
}

TEST(Predecessors, OfValuesWithoutAKnownShapeAreThoseOfTheGraph) {
  GraphBuilder b;
  auto x = b.input("x", {Dim::symbol("n"), 4});
  auto where = b.node("NonZero", {b.node("Relu", {x})});
  auto turned = b.node("Transpose", {where}, {{"perm", std::vector<int64_t>{1, 0}}});
  expect_same_edges(b.finish({turned, b.node("Exp", {x}), where}), {{3, 4}});
}

TEST(Predecessors, AreToldWithTheStepsAndWithTheRecordOfAnotherMachine) {
  GraphBuilder b;
  auto x = b.node("Exp", {b.input("x", {2, 6})});
  auto view = b.node("Reshape", {x, b.ints({3, 4})});
  const auto engine =
      build(b.finish({b.node("MatMul", {b.node("Sin", {view}), b.node("Transpose", {view})})}));
  engine->shapes["x"] = {{2, 6}, {2, 6}, {2, 6}};
  LoadedEngine loaded(engine, device::cpu::cpu_device(), 1);
  for (const Description& told : {describe(loaded, {{2, 6}}), describe_record(*engine)}) {
    Edges edges;
    for (const StepDescription& step : told.steps) edges.push_back(step.predecessors);
    EXPECT_THAT(edges, ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(0), ElementsAre(1, 2)));
    EXPECT_EQ(description_json(*engine, told)["steps"][3]["predecessors"], Json({1, 2}));
  }
}

Operand floats(int64_t first, int64_t count) {
  return {.storage = Operand::Storage::kArena,
          .position = 4 * first,
          .desc = {tensor::DType::kFloat32, {count}, Layout::kPlain}};
}

ProgramStep step(int32_t node, std::vector<Operand> inputs, Operand output) {
  ProgramStep made;
  made.node = node;
  made.kind = node < 0 ? "Copy" : "Conv";
  made.inputs = std::move(inputs);
  made.outputs = {std::move(output)};
  return made;
}

TEST(Predecessors, HoldTheCopyThatAStepAddsTo) {
  const std::vector<ProgramStep> steps = {step(0, {}, floats(0, 8)), step(1, {}, floats(8, 8)),
                                          step(-1, {floats(0, 8)}, floats(16, 8)),
                                          step(2, {floats(8, 8), floats(0, 8)}, floats(16, 8))};
  EXPECT_THAT(find_predecessors(steps),
              ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(0), ElementsAre(0, 1, 2)));
}

TEST(Predecessors, AreWhoWroteTheBytesLast) {
  const std::vector<ProgramStep> steps = {
      step(0, {}, floats(0, 8)), step(1, {}, floats(2, 2)), step(2, {floats(0, 2)}, floats(20, 1)),
      step(3, {floats(2, 2)}, floats(21, 1)), step(4, {floats(3, 4)}, floats(22, 1))};
  EXPECT_THAT(find_predecessors(steps),
              ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(0), ElementsAre(1), ElementsAre(0, 1)));
}

/// Hours where every step looks at all before it, and gigabytes where it keeps them.
TEST(Predecessors, OfEndlessConcatenationsAreNotTold) {
  constexpr int32_t kSteps = 200'000;
  std::vector<ProgramStep> steps(kSteps);
  for (int32_t i = 0; i < kSteps; ++i) {
    if (i > 0) steps[static_cast<size_t>(i)].inputs = {floats(0, i)};
    steps[static_cast<size_t>(i)].outputs = {floats(i, 1)};
  }
  EXPECT_THAT(find_predecessors(steps), Each(IsEmpty()));
  steps.resize(1000);
  EXPECT_EQ(find_predecessors(steps).back().size(), 999U);
}

}  // namespace
}  // namespace hone::engine
