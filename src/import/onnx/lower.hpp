// The form that a node had in an older opset: the opposite of adapt.hpp, for export.
#pragma once

#include "graph/graph.hpp"

namespace hone::importer {

/// Rewrites a copy of a node (opset 22) to the form of `opset` (13 or later). Inputs that became attributes
/// are removed from it. Bad input, without naming the node, when the older opset cannot express it.
void lower_node(const graph::Graph& graph, graph::Node& node, int opset);

/// True if lower_node() takes every node of the graph, those of loops and branches too.
bool can_lower(const graph::Graph& graph, int opset);

}  // namespace hone::importer
