// Removes nodes whose results are not needed, then values and constants that are not used.
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

/// Marks nodes from which no graph output can be reached.
std::vector<bool> dead_nodes(const Graph& graph) {
  std::vector<bool> needed(graph.values.size(), false);
  for (const ValueId id : graph.outputs) needed[static_cast<size_t>(id)] = true;
  std::vector<bool> dead(graph.nodes.size(), false);
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    dead[i] = true;
    for (const ValueId id : node.outputs)
      dead[i] = dead[i] && (id == kNoValue || !needed[static_cast<size_t>(id)]);
    if (dead[i]) continue;
    for (const ValueId id : node.inputs) {
      if (id != kNoValue) needed[static_cast<size_t>(id)] = true;
    }
  }
  return dead;
}

/// New ids of the values that are used by a node, an input or an output; kNoValue for the others.
std::vector<ValueId> compact_ids(const Graph& graph) {
  std::vector<ValueId> ids(graph.values.size(), kNoValue);
  const auto keep = [&](const std::vector<ValueId>& mentioned) {
    for (const ValueId id : mentioned) {
      if (id != kNoValue) ids[static_cast<size_t>(id)] = 0;
    }
  };
  keep(graph.inputs);
  keep(graph.outputs);
  for (const Node& node : graph.nodes) {
    keep(node.inputs);
    keep(node.outputs);
  }
  ValueId next = 0;
  for (ValueId& id : ids) {
    if (id != kNoValue) id = next++;
  }
  return ids;
}

void renumber(std::vector<ValueId>& list, const std::vector<ValueId>& ids) {
  for (ValueId& id : list) {
    if (id != kNoValue) id = ids[static_cast<size_t>(id)];
  }
}

/// Removes unused values; returns their number.
int compact_values(Graph& graph) {
  const std::vector<ValueId> ids = compact_ids(graph);
  std::vector<graph::Value> kept;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != kNoValue) kept.push_back(std::move(graph.values[i]));
  }
  const auto dropped = static_cast<int>(graph.values.size() - kept.size());
  graph.values = std::move(kept);
  renumber(graph.inputs, ids);
  renumber(graph.outputs, ids);
  for (Node& node : graph.nodes) {
    renumber(node.inputs, ids);
    renumber(node.outputs, ids);
  }
  return dropped;
}

}  // namespace

Summary dead_code(Graph& graph) {
  Summary summary;
  const std::vector<bool> dead = dead_nodes(graph);
  for (size_t i = 0; i < dead.size(); ++i) {
    if (dead[i]) summary.change(fmt::format("'{}' ({}) dropped", graph.nodes[i].name, graph.nodes[i].op));
  }
  graph.remove_nodes(dead);
  const int dropped = compact_values(graph);
  if (dropped > 0) summary.change(fmt::format("{} unused values dropped", dropped));
  return summary;
}

}  // namespace hone::transform
