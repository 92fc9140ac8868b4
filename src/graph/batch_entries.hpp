// Decides whether a node keeps the entries of a batch apart, where some values are known to be the same at
// every batch.
#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace hone::graph {

/// As keeps_batch() (graph/operator.hpp), but in a graph whose values other than the `varying` ones are the
/// same at every batch: constants, and values computed from constants only, as dequantized weights are.
/// `varying` has an entry for each value; later values do not vary.
bool keeps_batch_of(const Graph& graph, const Node& node, int64_t rank, const std::vector<bool>& varying);

}  // namespace hone::graph
