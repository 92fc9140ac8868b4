// The invariants of graph.hpp, checked after import and after every pass.
#pragma once

#include "graph/graph.hpp"

namespace hone::graph {

/// Throws an internal error that names `after` (a pass) if an invariant is broken.
void verify(const Graph& graph, const char* after);

}  // namespace hone::graph
