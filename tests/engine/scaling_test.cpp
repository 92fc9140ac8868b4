// Building takes time in proportion to the graph, whatever its form: a file that asks for more hangs the
// program.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "device/devices.hpp"
#include "engine/builder.hpp"
#include "graph/operator.hpp"

namespace hone::engine {
namespace {

using graph::Graph;
using graph::ValueId;

/// One node after the other; what they are is inferred when the engine is built.
class Chain {
 public:
  Chain() {
    first_ = graph.add_value("x", {tensor::DType::kFloat32, graph::Dims{1, 4}});
    graph.inputs = {first_};
  }
  ValueId add(const std::string& op, std::vector<ValueId> inputs) {
    graph::Node node;
    node.name = "n" + std::to_string(graph.values.size());
    node.op = op;
    node.inputs = std::move(inputs);
    if (op == "Concat") node.attributes.set("axis", int64_t{1});
    node.outputs = {graph.add_value("v" + std::to_string(graph.values.size()))};
    graph::complete_node(node);
    graph.add_node(node);
    return node.outputs[0];
  }
  ValueId number(int i) {
    return graph.add_constant("c" + std::to_string(i), tensor::Tensor::scalar(static_cast<float>(i)));
  }
  ValueId first() const { return first_; }
  Graph finish(ValueId output) {
    graph.outputs = {output};
    return std::move(graph);
  }

  Graph graph;

 private:
  ValueId first_;
};

Graph unary_chain(const std::string& op, int n) {
  Chain chain;
  ValueId last = chain.first();
  for (int i = 0; i < n; ++i) last = chain.add(op, {last});
  return chain.finish(last);
}

Graph additions(int n) {
  Chain chain;
  ValueId last = chain.first();
  for (int i = 0; i < n; ++i) last = chain.add("Add", {last, chain.first()});
  return chain.finish(last);
}

/// One value with n readers, whose results come together.
Graph fan(const std::string& join, int n) {
  Chain chain;
  std::vector<ValueId> results;
  for (int i = 0; i < n; ++i) results.push_back(chain.add("Mul", {chain.first(), chain.number(i)}));
  return chain.finish(chain.add(join, results));
}

/// Each concatenation is the first part of the next.
Graph growing_list(int n) {
  Chain chain;
  ValueId last = chain.first();
  for (int i = 0; i < n; ++i) last = chain.add("Concat", {last, chain.add("Softmax", {chain.first()})});
  return chain.finish(last);
}

/// All values live until the last one is there.
Graph folded_chain(int n) {
  Chain chain;
  std::vector<ValueId> values{chain.first()};
  for (int i = 0; i < n; ++i) values.push_back(chain.add("Softmax", {values.back()}));
  ValueId last = values.back();
  for (size_t i = values.size() - 1; i-- > 0;) last = chain.add("Add", {last, values[i]});
  return chain.finish(last);
}

/// Processor seconds: other work of the machine hardly shows in them.
double build_seconds(const Graph& graph) {
  double best = 1e9;
  for (int i = 0; i < 2; ++i) {
    const std::clock_t start = std::clock();
    build_engine(graph, device::find_device("cpu"), {.optimization_level = 0});
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

struct Family {
  const char* name;
  int nodes;
  Graph (*make)(int);
};

class BuildTime : public testing::TestWithParam<Family> {};

/// Four times the nodes take 4 times the time when it grows with their number and 16 times when it grows with
/// the square; 9 leaves a factor of two on either side for caches and allocators.
TEST_P(BuildTime, GrowsWithTheNumberOfNodes) {
  const Family& family = GetParam();
  build_seconds(family.make(100));
  const double few = build_seconds(family.make(family.nodes));
  const double many = build_seconds(family.make(4 * family.nodes));
  EXPECT_LT(many / few, 9) << few << " s and " << many << " s";
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, BuildTime,
    testing::Values(Family{"neg", 4000, [](int n) { return unary_chain("Neg", n); }},
                    Family{"softmax", 4000, [](int n) { return unary_chain("Softmax", n); }},
                    Family{"relu", 4000, [](int n) { return unary_chain("Relu", n); }},
                    Family{"identity", 8000, [](int n) { return unary_chain("Identity", n); }},
                    Family{"additions", 4000, additions},
                    Family{"sum", 4000, [](int n) { return fan("Sum", n); }},
                    Family{"concat", 4000, [](int n) { return fan("Concat", n); }},
                    Family{"growing_list", 2000, growing_list}, Family{"folded_chain", 1500, folded_chain}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hone::engine
