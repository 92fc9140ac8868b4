// Decides whether a node processes the entries of a batch independently, if some values are known to be the
// same for every entry.
#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace hone::graph {

/// Like keeps_batch() (graph/operator.hpp), but for a graph in which only the `varying` values depend on the
/// batch. The others are constants or computed from constants only, such as dequantized weights. `varying`
/// has an entry for each value; values beyond its end do not vary.
bool keeps_batch_of(const Graph& graph, const Node& node, int64_t rank, const std::vector<bool>& varying);

}  // namespace hone::graph
