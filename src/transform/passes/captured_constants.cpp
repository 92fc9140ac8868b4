// Moves constants that the subgraphs of If, Loop and Scan capture into the subgraphs, where passes and
// kernels recognize them as weights. Copies of a tensor share its data, so nothing is stored twice.
#include <memory>

#include "graph/subgraph.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

using graph::Node;
using graph::ValueId;

/// Indices of the node's captured inputs that are constants, ascending, counted from the first captured
/// input.
std::vector<size_t> constant_captures(const Graph& graph, const Node& node, size_t captures) {
  std::vector<size_t> result;
  const size_t first = node.inputs.size() - captures;
  for (size_t k = 0; k < captures; ++k) {
    if (graph.constant(node.inputs[first + k]) != nullptr) result.push_back(k);
  }
  return result;
}

/// A copy of the subgraph in which these captured inputs are constants.
std::shared_ptr<Graph> with_constants(const Graph& body, const Graph& graph, const Node& node,
                                      size_t captures, const std::vector<size_t>& constants) {
  auto result = std::make_shared<Graph>(body);
  const size_t formal = body.inputs.size() - captures;
  const size_t first = node.inputs.size() - captures;
  for (auto k = constants.rbegin(); k != constants.rend(); ++k) {
    const graph::Value& outer = graph.value(node.inputs[first + *k]);
    graph::Value& inner = result->value(body.inputs[formal + *k]);
    inner.name = outer.name;
    inner.type = outer.type;
    inner.constant = outer.constant;
    inner.data.reset();
    result->inputs.erase(result->inputs.begin() + static_cast<std::ptrdiff_t>(formal + *k));
  }
  return result;
}

}  // namespace

Summary captured_constants(Graph& graph) {
  Summary summary;
  for (Node& node : graph.nodes) {
    if (!graph::controls_subgraphs(node)) continue;
    const size_t captures = graph::capture_count(node.attributes, node.inputs.size());
    const std::vector<size_t> constants = constant_captures(graph, node, captures);
    if (constants.empty()) continue;
    for (const std::string& name : graph::subgraph_attributes(node)) {
      const Graph& body = *node.attributes.get<std::shared_ptr<Graph>>(name);
      node.attributes.set(name, with_constants(body, graph, node, captures, constants));
    }
    const size_t first = node.inputs.size() - captures;
    for (auto k = constants.rbegin(); k != constants.rend(); ++k)
      node.inputs.erase(node.inputs.begin() + static_cast<std::ptrdiff_t>(first + *k));
    node.attributes.set("num_captures", static_cast<int64_t>(captures - constants.size()));
    summary.change(
        fmt::format("'{}' ({}) keeps {} constants in its subgraphs", node.name, node.op, constants.size()));
  }
  return summary;
}

}  // namespace hone::transform
