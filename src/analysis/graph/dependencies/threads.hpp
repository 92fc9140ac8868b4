// Waits of host threads for each other (R15): a thread begins when it was created, a join returns when the
// thread has ended, a lock when the mutex was unlocked, a wait when somebody signalled or posted.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/graph/event_graph.hpp"

namespace hone::analysis::dependencies {

/// An action of `thread` at `time` that let a wait end, or another thread begin.
struct ThreadEdge {
  int32_t thread = 0;
  Time time = 0;
  int32_t call = -1;   ///< index into EventGraph::calls: that waited; else
  int32_t begun = -1;  ///< index into EventGraph::threads: that began
};

/// Adds the waits to the graph, which stay ordered by call. Edges are ordered by thread, then time. A wait
/// inside a call of another API is part of that call, whose own rules say what it waited for.
std::vector<ThreadEdge> find_thread_edges(EventGraph& graph);

/// Joins waits and threads to the nodes in which their edges begin; every edge has one at its time. Returns
/// how many edges contradict the times; what they led to then did not wait.
int64_t link_threads(EventGraph& graph, const std::vector<ThreadEdge>& edges);

}  // namespace hone::analysis::dependencies
