// Prints a graph as text, for `hone inspect --graph` and for test cases. docs/GRAPH-TEXT.md describes the
// syntax, and parser.hpp reads it.
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

/// Prints nodes in order, each constant before its first reader, and only attributes that differ from the
/// operator's default. Values without a name, or with the name of an earlier value, get a new one. The text
/// ends with a line break. If no constant is elided, parse_graph reads the same graph back, except for values
/// that no node, input or output refers to.
std::string print_graph(const Graph& graph, const PrintOptions& options = {});

}  // namespace hone::graph
