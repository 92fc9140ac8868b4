// Replaces newer operators of a graph with subgraphs of older ones, for readers that lack the newer ones.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "graph/graph.hpp"

namespace hone::importer {

/// Returns a copy of the graph, and of the graphs of loops and branches, in which other operators replace
/// those with these names. Operators without a rule stay as they are. Throws bad input that names a node that
/// a rule cannot replace.
graph::Graph decompose(const graph::Graph& graph, const std::set<std::string_view>& operators);

}  // namespace hone::importer
