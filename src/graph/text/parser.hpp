// Reads a graph from its text, written by print_graph or by hand. docs/GRAPH-TEXT.md describes the syntax.
//
// The text is untrusted: there are limits on its length, the depth of nested graphs, the number of nodes and
// values, and the memory of constants that it describes without spelling them out. Every error is a bad-input
// Error with line and column.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "graph/graph.hpp"

namespace hone::graph {

struct ParseOptions {
  /// The parser fills elided constants ("...") with this number; without it they are refused.
  std::optional<double> elided_fill = {};
  /// Accepts elided constants without bytes, like those that an engine file keeps only in packed form.
  bool keep_elided = false;
  /// Limit on the memory of all constants that the text describes without spelling them out.
  int64_t max_described_bytes = int64_t{64} << 20;
};

/// Parses a graph, completes its nodes from the operator table and infers its types. Types in the text are
/// declared types, which inference must not contradict.
Graph parse_graph(std::string_view text, const ParseOptions& options = {});

}  // namespace hone::graph
