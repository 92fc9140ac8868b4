// If, Loop and Scan with subgraphs that capture outer values, and shape inference through them.
#include <gtest/gtest.h>

#include "graph/subgraph.hpp"
#include "reference/single_node.hpp"
#include "tensor/tensor.hpp"

namespace hone::reference {
namespace {

using graph::Dim;
using graph::Dims;
using graph::Graph;
using graph::Node;
using graph::ValueId;
using tensor::DType;
using tensor::Tensor;
using Ints = std::vector<int64_t>;

/// Builds graphs line by line.
struct Builder {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();

  ValueId input(const std::string& name, graph::TensorType type) {
    const ValueId id = graph->add_value(name, std::move(type));
    graph->inputs.push_back(id);
    return id;
  }
  ValueId node(const std::string& op, std::vector<ValueId> inputs) {
    Node node = node_of(op);
    node.name = op + std::to_string(graph->nodes.size());
    node.inputs = std::move(inputs);
    node.outputs = {graph->add_value(node.name)};
    graph::complete_node(node);
    return graph->add_node(std::move(node)).outputs[0];
  }
  Builder& output(ValueId id) {
    graph->outputs.push_back(id);
    return *this;
  }
};

const graph::TensorType kIndex{DType::kInt64, Dims{}};
const graph::TensorType kFlag{DType::kBool, Dims{}};
const graph::TensorType kFloats{DType::kFloat32, std::nullopt};

TEST(If, RunsOneBranchOnWhatItCaptures) {
  std::vector<std::shared_ptr<Graph>> branches;
  for (const char* op : {"Add", "Mul"}) {
    Builder b;
    const ValueId x = b.input("x", kFloats);
    b.output(b.node(op, {x, b.input("y", kFloats)}));
    branches.push_back(b.graph);
  }
  const Node node = node_of(
      "If", {{"then_branch", branches[0]}, {"else_branch", branches[1]}, {"num_captures", int64_t{2}}});
  const Tensor x = ramp({3}, 1);
  EXPECT_EQ(run_single_node(node, {Tensor::scalar(true), x, x})[0].to_double(),
            (std::vector<double>{2, 4, 6}));
  EXPECT_EQ(run_single_node(node, {Tensor::scalar(false), x, x})[0].to_double(),
            (std::vector<double>{1, 4, 9}));
  EXPECT_EQ(refusal(node, {Tensor::scalar(true), x}), "attribute 'num_captures' is 2, outside [0, 1]");
}

TEST(If, JoinsTheTypesOfItsBranches) {
  Builder one;
  one.output(one.input("x", kFloats));
  one.input("y", kFloats);
  Builder two;
  two.input("x", kFloats);
  two.output(two.input("y", kFloats));
  const auto type = [&](tensor::Shape a, tensor::Shape b) {
    const auto graph = single_node_graph(
        node_of("If", {{"then_branch", one.graph}, {"else_branch", two.graph}, {"num_captures", int64_t{2}}}),
        {Tensor::scalar(true), ramp(std::move(a)), ramp(std::move(b))});
    return graph.value(graph.outputs[0]).type.text();
  };
  EXPECT_EQ(type({2, 3}, {2, 4}), "float32[2x?]");
  EXPECT_EQ(graph::join({DType::kFloat32, Dims{1}}, {DType::kFloat32, Dims{1, 2}}).ranked(), false);
}

/// state' = state + step (captured); stacks state'; goes on while state' < limit (captured).
std::shared_ptr<Graph> counting_body() {
  Builder b;
  b.input("i", kIndex);
  b.input("condition", kFlag);
  const ValueId state = b.input("state", kFloats);
  const ValueId next = b.node("Add", {state, b.input("step", kFloats)});
  b.output(b.node("Less", {next, b.input("limit", kFloats)})).output(next).output(next);
  return b.graph;
}

TEST(Loop, EndsByTripCountOrCondition) {
  const Node node = node_of("Loop", {{"body", counting_body()}, {"num_captures", int64_t{2}}});
  const auto run = [&](const Tensor& trips, const Tensor& condition, float limit) {
    const Tensor start = Tensor::scalar(0.0f);
    return run_single_node(node, {trips, condition, start, Tensor::scalar(2.0f), Tensor::scalar(limit)}, 2);
  };
  const Tensor absent;
  const auto counted = run(Tensor::scalar<int64_t>(3), absent, 0);  // the body's condition is ignored
  EXPECT_EQ(counted[0].to_double(), (std::vector<double>{6}));
  EXPECT_EQ(counted[1].to_double(), (std::vector<double>{2, 4, 6}));
  EXPECT_EQ(run(absent, Tensor::scalar(true), 7)[1].to_double(), (std::vector<double>{2, 4, 6, 8}));
  EXPECT_EQ(run(Tensor::scalar<int64_t>(2), Tensor::scalar(true), 7)[1].to_double(),
            (std::vector<double>{2, 4}));
  const auto none = run(Tensor::scalar<int64_t>(5), Tensor::scalar(false), 7);
  EXPECT_EQ(none[0].to_double(), (std::vector<double>{0}));
  EXPECT_EQ(none[1].shape(), (tensor::Shape{0}));
  EXPECT_EQ(
      refusal(node, {absent, absent, Tensor::scalar(0.0f), Tensor::scalar(2.0f), Tensor::scalar(9.0f)}, 2),
      "neither a trip count nor a condition ends the loop");
}

TEST(Loop, ForgetsDimensionsThatIterationsChange) {
  // state' = state + row broadcasts the state from [1, 3] to [2, 3]: its first dimension changes.
  const auto graph = single_node_graph(
      node_of("Loop", {{"body", counting_body()}, {"num_captures", int64_t{2}}}),
      {Tensor::scalar<int64_t>(4), Tensor(), ramp({1, 3}), ramp({2, 1}), Tensor::scalar(9.0f)}, 2);
  EXPECT_EQ(graph.value(graph.outputs[0]).type.text(), "float32[?x3]");
  EXPECT_EQ(graph.value(graph.outputs[1]).type.text(), "float32[?x2x3]");
}

/// state' = state + element; stacks state'.
std::shared_ptr<Graph> summing_body() {
  Builder b;
  const ValueId state = b.input("state", kFloats);
  const ValueId next = b.node("Add", {state, b.input("element", kFloats)});
  b.output(next).output(next);
  return b.graph;
}

TEST(Scan, SumsAlongAnyAxisInBothDirections) {
  const Tensor x = ramp({2, 3});  // 0 1 2 / 3 4 5
  const auto run = [&](int64_t axis, int64_t backward, int64_t output_axis, int64_t prepend) {
    return run_single_node(node_of("Scan", {{"body", summing_body()},
                                            {"num_scan_inputs", int64_t{1}},
                                            {"scan_input_axes", Ints{axis}},
                                            {"scan_input_directions", Ints{backward}},
                                            {"scan_output_axes", Ints{output_axis}},
                                            {"scan_output_directions", Ints{prepend}}}),
                           {Tensor::scalar(0.0f), x}, 2);
  };
  EXPECT_EQ(run(0, 0, 0, 0)[1].to_double(), (std::vector<double>{0, 1, 2, 3, 5, 7}));
  EXPECT_EQ(run(-1, 0, 0, 0)[1].to_double(), (std::vector<double>{0, 3, 1, 7, 3, 12}));
  EXPECT_EQ(run(1, 0, -1, 0)[1].to_double(), (std::vector<double>{0, 1, 3, 3, 7, 12}));
  EXPECT_EQ(run(1, 1, 1, 1)[1].to_double(), (std::vector<double>{3, 3, 2, 12, 9, 5}));
  EXPECT_EQ(run(1, 1, 1, 1)[0].to_double(), (std::vector<double>{3, 12}));
}

TEST(Scan, OverNothingKeepsTheStateAndStacksNothing) {
  const auto y = run_single_node(node_of("Scan", {{"body", summing_body()}, {"num_scan_inputs", int64_t{1}}}),
                                 {ramp({3}), Tensor(DType::kFloat32, {0, 3})}, 2);
  EXPECT_EQ(y[0].to_double(), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(y[1].shape(), (tensor::Shape{0, 3}));
}

TEST(Scan, RefusesBadFields) {
  const Tensor x = ramp({2, 3});
  EXPECT_EQ(refusal(node_of("Scan", {{"body", summing_body()}, {"num_scan_inputs", int64_t{3}}}), {x, x}, 2),
            "attribute 'num_scan_inputs' is 3, outside [1, 2]");
  EXPECT_EQ(refusal(node_of("Scan", {{"body", summing_body()},
                                     {"num_scan_inputs", int64_t{1}},
                                     {"scan_input_axes", Ints{2}}}),
                    {x, x}, 2),
            "scan_input_axes 2 is outside rank 2");
  EXPECT_EQ(refusal(node_of("Scan", {{"body", summing_body()}, {"num_scan_inputs", int64_t{1}}}), {x}, 2),
            "subgraph '' has 2 inputs, expected 1");
}

}  // namespace
}  // namespace hone::reference
