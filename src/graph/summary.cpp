// See summary.hpp.
#include "graph/summary.hpp"

#include <set>

#include "graph/operator.hpp"

namespace hone::graph {
namespace {

/// Mean and variance of a BatchNormalization are its inputs 3 and 4.
std::set<ValueId> statistic_values(const Graph& graph) {
  std::set<ValueId> ids;
  for (const Node& node : graph.nodes) {
    if (node.op != "BatchNormalization") continue;
    ids.insert(node.input(3));
    ids.insert(node.input(4));
  }
  return ids;
}

void count_constants(const Graph& graph, GraphSummary& summary) {
  const std::set<ValueId> statistics = statistic_values(graph);
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const auto& constant = graph.values[i].constant;
    if (!constant) continue;
    summary.constant_bytes += static_cast<int64_t>(constant->byte_size());
    if (!tensor::is_floating(constant->dtype()) || constant->rank() == 0) continue;
    const bool statistic = statistics.contains(static_cast<ValueId>(i));
    (statistic ? summary.statistics : summary.parameters) += constant->size();
  }
}

}  // namespace

GraphSummary summarize(const Graph& graph) {
  GraphSummary summary;
  count_constants(graph, summary);
  for (const Node& node : graph.nodes) {
    const std::optional<Cost> cost = node_cost(graph, node);
    if (!cost) {
      ++summary.unknown_nodes;
      continue;
    }
    summary.flops += cost->flops;
    summary.bytes += cost->bytes;
    summary.flops_by_operator[node.op] += cost->flops;
  }
  return summary;
}

}  // namespace hone::graph
