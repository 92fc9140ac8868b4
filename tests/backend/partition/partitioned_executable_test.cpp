// Partitioned models give the outputs of the whole one: as graphs with regions, and on backends.
#include "backend/partition/partitioned_executable.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/partition/partition_support.hpp"
#include "backend/partition/regions.hpp"
#include "graph/region.hpp"

namespace hone::backend::partition {
namespace {

using test::Dim;
using test::Graph;
using test::GraphBuilder;
using test::Tensor;
using test::ValueId;

const std::vector<std::string> kNames = {"hone", "reference"};

/// Runs the blocks that the labels make, and compares with the whole graph on the reference kernels.
void expect_same(const Graph& graph, const Labels& labels, const std::vector<std::string>& backends,
                 const std::vector<std::vector<Tensor>>& runs, bool shapes_known = true) {
  auto shared = std::make_shared<const Graph>(graph);
  const Wiring wiring(graph);
  LoadOptions options;
  options.timing_cache = false;
  if (shapes_known) {
    for (size_t i = 0; i < graph.inputs.size(); ++i)
      options.input_shapes[graph.value(graph.inputs[i]).name] = runs[0][i].shape();
  }
  PartitionedExecutable executable({"test", shared, make_blocks(wiring, labels), backends, std::nullopt, {}},
                                   options);
  for (const std::vector<Tensor>& inputs : runs) {
    const auto expected = reference::run_graph(graph, inputs);
    const auto actual = executable.run(inputs);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_LE(test::relative_error(actual[i], expected[i]), test::rounding_tolerance(graph))
          << "output " << i;
  }
}

TEST(Regions, OfAnyLabelsComputeWhatTheGraphDoes) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const Graph graph = test::random_wiring(seed, 15, Dim::symbol("N"));
    const Wiring wiring(graph);
    const Labels labels = test::random_labels(seed, wiring.size(), 2);
    const Graph regions = with_regions(graph, make_blocks(wiring, labels), kNames);
    for (const graph::Node& node : regions.nodes) EXPECT_TRUE(graph::is_region(node));
    test::expect_equivalent(graph, regions, seed);
  }
}

TEST(Regions, HaveTheKindOfTheirBackend) {
  GraphBuilder b;
  const ValueId x = b.input("x", {4});
  const Graph graph = b.finish({b.node("Relu", {b.node("Tanh", {x})})});
  const Graph regions = with_regions(graph, std::vector<Block>{{0, {0}}, {1, {1}}}, kNames);
  EXPECT_EQ(test::structure_with_bodies(regions), "hone(Tanh) reference(Relu)");
}

TEST(Regions, AConstantOfTwoBlocksIsThereOnce) {
  GraphBuilder b;
  const ValueId x = b.input("x", {4});
  const ValueId c = b.random({4});
  const Graph graph = b.finish({b.node("Mul", {b.node("Add", {x, c}), c})});
  const Graph regions = with_regions(graph, std::vector<Block>{{0, {0}}, {1, {1}}}, kNames);
  const auto first = block_model(regions, regions.nodes[0]);
  const auto second = block_model(regions, regions.nodes[1]);
  const auto bytes = [](const importer::Model& model) -> const std::byte* {
    for (const graph::Value& value : model.graph->values) {
      if (value.constant) return value.constant->bytes();
    }
    return nullptr;
  };
  EXPECT_EQ(bytes(first), bytes(second));
  EXPECT_EQ(first.graph->inputs.size(), 1);
}

TEST(PartitionedExecutable, AnyLabelsComputeWhatTheGraphDoes) {
  for (uint32_t seed = 0; seed < 6; ++seed) {
    const Graph graph = test::random_wiring(seed, 12);
    const Labels labels = test::random_labels(seed, graph.nodes.size(), 2);
    expect_same(graph, labels, kNames, {test::random_inputs(graph, seed, 2)});
  }
}

TEST(PartitionedExecutable, RunsOpenShapesOneAfterTheOther) {
  for (const bool known : {true, false}) {
    const Graph graph = test::random_wiring(5, 12, Dim::symbol("N"));
    const Labels labels = test::random_labels(5, graph.nodes.size(), 2);
    expect_same(graph, labels, kNames,
                {test::random_inputs(graph, 1, 2), test::random_inputs(graph, 2, 5),
                 test::random_inputs(graph, 3, 2)},
                known);
  }
}

/// A shape that one block computes and another one uses.
TEST(PartitionedExecutable, ShapesThatCrossAreKnownOnTheOtherSide) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), Dim(6)});
  const ValueId shape = b.node("Shape", {x});
  const ValueId rows = b.node("Gather", {shape, b.ints({0})});
  const ValueId wanted = b.node("Concat", {rows, b.ints({2, 3})}, {{"axis", int64_t{0}}});
  const ValueId y = b.node("Tanh", {x});
  const Graph graph = b.finish({b.node("Relu", {b.node("Reshape", {y, wanted})})});
  expect_same(
      graph, {1, 1, 1, 0, 0, 0}, kNames,
      {test::random_inputs(graph, 1, 2), test::random_inputs(graph, 2, 4), test::random_inputs(graph, 3, 2)});
}

TEST(PartitionedExecutable, RunsShapesThatDataDecide) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim(3), Dim(4)});
  const ValueId found = b.node("NonZero", {b.node("Relu", {x})});
  const ValueId numbers = b.node("Cast", {found}, {{"to", int64_t{1}}});
  const Graph graph = b.finish({b.node("Add", {numbers, numbers})});
  expect_same(graph, {0, 1, 0, 1}, kNames,
              {test::random_inputs(graph, 1, 2), test::random_inputs(graph, 9, 2)});
}

/// An output that is an input, one that is a constant, one that is there twice.
TEST(PartitionedExecutable, HandsOutWhatNoBlockMakes) {
  GraphBuilder b;
  const ValueId x = b.input("x", {4});
  const ValueId y = b.node("Tanh", {x});
  const Graph graph = b.finish({y, x, b.random({2}), y});
  expect_same(graph, {0}, kNames, {test::random_inputs(graph, 1, 2)});
}

TEST(PartitionedExecutable, ABranchStaysWhole) {
  GraphBuilder b;
  const ValueId x = b.input("x", {4});
  const ValueId condition = b.input("condition", {}, graph::DType::kBool);
  const auto branch = [](const char* op) {
    auto body = std::make_shared<Graph>();
    const ValueId in = body->add_value("in", {graph::DType::kFloat32, graph::Dims{Dim(4)}});
    const ValueId out = body->add_value("out", {graph::DType::kFloat32, graph::Dims{Dim(4)}});
    body->inputs = {in};
    body->outputs = {out};
    graph::Node node;
    node.name = op;
    node.op = op;
    node.inputs = {in};
    node.outputs = {out};
    graph::complete_node(node);
    body->add_node(std::move(node));
    return body;
  };
  const ValueId y = b.node("Tanh", {x});
  const ValueId z =
      b.node("If", {condition, y},
             {{"then_branch", branch("Relu")}, {"else_branch", branch("Neg")}, {"num_captures", int64_t{1}}});
  const Graph graph = b.finish({b.node("Sigmoid", {z})});
  const std::vector<Tensor> yes = {test::random_tensor({4}, 1), Tensor::scalar<bool>(true)};
  const std::vector<Tensor> no = {test::random_tensor({4}, 2), Tensor::scalar<bool>(false)};
  expect_same(graph, {0, 1, 0}, kNames, {yes, no});
}

TEST(PartitionedExecutable, StepsReadWhatStepsOfOtherBlocksMake) {
  GraphBuilder b;
  const ValueId x = b.input("x", {4});
  Graph graph = b.finish({b.node("Relu", {b.node("Tanh", {x})})});
  for (graph::Node& node : graph.nodes) node.sources = {node.name};
  PartitionedExecutable executable(
      {"test", std::make_shared<const Graph>(graph), {{1, {0}}, {0, {1}}}, kNames, 2.5, {{"x", {4}}}}, {});
  const std::vector<StepInfo> steps = executable.steps();
  ASSERT_EQ(steps.size(), 2);
  EXPECT_EQ(steps[0].tactic, "reference: reference");
  EXPECT_THAT(steps[1].tactic, testing::StartsWith("hone: "));
  EXPECT_THAT(steps[1].predecessors, testing::ElementsAre(0));
  EXPECT_EQ(executable.predicted_ms(), 2.5);
  EXPECT_THAT(executable.notes(), testing::Contains("1 block runs on reference"));
}

TEST(PartitionedExecutable, AnErrorNamesTheBlock) {
  GraphBuilder b;
  const ValueId x = b.input("x", {4});
  auto graph = std::make_shared<const Graph>(b.finish({b.node("Tanh", {x})}));
  LoadOptions options;
  options.precision = Precision::kBf16;
  try {
    PartitionedExecutable({"test", graph, {{0, {0}}}, {"reference"}, std::nullopt, {}}, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("block0 on reference: "));
  }
}

}  // namespace
}  // namespace hone::backend::partition
