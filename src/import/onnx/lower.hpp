// Converts nodes to their forms in an older opset, for export: the inverse of adapt.hpp.
#pragma once

#include "graph/graph.hpp"

namespace hone::importer {

/// Rewrites a copy of a node (opset 22) to the form of `opset` (13 or later). Inputs that became attributes
/// are removed from it. Throws bad input, without the node's name, if the older opset cannot express it.
void lower_node(const graph::Graph& graph, graph::Node& node, int opset);

/// True if lower_node() can convert every node of the graph, including those of loops and branches.
bool can_lower(const graph::Graph& graph, int opset);

}  // namespace hone::importer
