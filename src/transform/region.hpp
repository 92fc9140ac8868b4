// Creates regions (graph/region.hpp) from the nodes that a pass matched.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace hone::transform {

/// A node of a pattern, and its role in it.
struct Part {
  std::string role;
  graph::Node node;
};

/// Returns the region of these nodes, given in the order in which they run. Its body contains them under
/// their roles. Its inputs are the values that they read and do not produce, each once; its outputs are the
/// given results.
graph::Node make_region(const std::string& kind, const std::vector<Part>& parts,
                        const std::vector<graph::ValueId>& outputs);

}  // namespace hone::transform
