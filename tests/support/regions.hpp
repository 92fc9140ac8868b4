// Makes regions of nodes that a test has built one by one.
#pragma once

#include <string>
#include <vector>

#include "graph/infer.hpp"
#include "graph/operator.hpp"
#include "graph/verify.hpp"
#include "transform/region.hpp"

namespace hone::test {

/// Puts the first nodes of the graph, one for each role, into one region; other nodes read `outputs`.
inline void fold_region(graph::Graph& graph, const std::string& kind, const std::vector<std::string>& roles,
                        const std::vector<graph::ValueId>& outputs) {
  std::vector<transform::Part> parts;
  for (size_t i = 0; i < roles.size(); ++i) parts.push_back({roles[i], graph.nodes.at(i)});
  graph::Node region = transform::make_region(kind, parts, outputs);
  graph::complete_node(region);
  graph.nodes.erase(graph.nodes.begin(), graph.nodes.begin() + static_cast<std::ptrdiff_t>(roles.size()));
  graph.nodes.insert(graph.nodes.begin(), std::move(region));
  graph::infer_types(graph);
  graph::verify(graph, "folding");
}

/// Puts a whole graph into a region, whose outputs are the graph's.
inline graph::Graph as_region(graph::Graph graph, const std::string& kind,
                              const std::vector<std::string>& roles) {
  fold_region(graph, kind, roles, graph.outputs);
  return graph;
}

}  // namespace hone::test
