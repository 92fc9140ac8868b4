// How passes make regions (graph/region.hpp) of the nodes that they match.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace hone::transform {

/// A node of a pattern, and the role that it plays there.
struct Part {
  std::string role;
  graph::Node node;
};

/// The region that stands for these nodes, given in the order they run: its body has them by their roles, its
/// inputs are what they read and none of them makes, each once, and its outputs are these results of theirs.
graph::Node make_region(const std::string& kind, const std::vector<Part>& parts,
                        const std::vector<graph::ValueId>& outputs);

}  // namespace hone::transform
