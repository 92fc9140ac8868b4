// Graphs for readers that lack newer operators: these become subgraphs of older ones.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "graph/graph.hpp"

namespace hone::importer {

/// The same graph, that of loops and branches included, in which operators of these names are made of others.
/// Names without such a rule are left as they are. Bad input naming the node that a rule does not take.
graph::Graph decompose(const graph::Graph& graph, const std::set<std::string_view>& operators);

}  // namespace hone::importer
