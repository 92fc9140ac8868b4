// A graph as text, for people, for `hone inspect --graph` and for test cases. docs/GRAPH-TEXT.md describes
// it; parser.hpp reads it.
#pragma once

#include <string>

#include "graph/graph.hpp"
#include "graph/text/spelling.hpp"

namespace hone::graph {

struct PrintOptions {
  ElementOptions elements = {};
  /// Shows constants that nothing reads.
  bool unused_constants = true;
};

/// Nodes in order, each constant before its first reader, attributes where they differ from the operator's
/// default. Values without a name, or with one that an earlier value has, get one. Ends with a line break.
/// If no constant is elided, parse_graph reads the same graph back, without values that no node, input or
/// output mentions.
std::string print_graph(const Graph& graph, const PrintOptions& options = {});

}  // namespace hone::graph
