// A graph from its text: what print_graph writes, or what a person wrote. docs/GRAPH-TEXT.md describes it.
//
// The text is untrusted: its length, the depth of graphs in it, the number of nodes and values and the memory
// of constants that it only describes have limits. Everything that is wrong is one bad-input Error with line
// and column.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "graph/graph.hpp"

namespace hone::graph {

struct ParseOptions {
  /// The parser fills elided constants ("...") with this number; without it they are refused.
  std::optional<double> elided_fill = {};
  /// Elided constants are taken without bytes, like those that an engine file keeps in packed form only.
  bool keep_elided = false;
  /// Limit of all constants that the text describes without spelling them out.
  int64_t max_described_bytes = int64_t{64} << 20;
};

/// The graph, its nodes completed from the operator table and its types inferred; types that the text gives
/// are declared ones, which inference must not contradict.
Graph parse_graph(std::string_view text, const ParseOptions& options = {});

}  // namespace hone::graph
