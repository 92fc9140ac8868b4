// Waits of host threads for each other (R15): a thread begins when it is created, a join returns when the
// thread has ended, a lock returns when the mutex is unlocked, and a wait returns when another thread signals
// or posts.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/graph/event_graph.hpp"

namespace hone::analysis::dependencies {

/// An action of `thread` at `time` that ended a wait or began another thread.
struct ThreadEdge {
  int32_t thread = 0;
  Time time = 0;
  int32_t call = -1;   ///< index into EventGraph::calls: the call that waited; else
  int32_t begun = -1;  ///< index into EventGraph::threads: the thread that began
};

/// Adds the waits to the graph, ordered by call. Edges are ordered by thread, then time. A wait inside a call
/// of another API is part of that call, whose own rules determine its causes.
std::vector<ThreadEdge> find_thread_edges(EventGraph& graph);

/// Links waits and threads to the nodes at which their edges begin; each edge has a node at its time. Returns
/// the number of edges that contradict the times; their targets then count as not waiting.
int64_t link_threads(EventGraph& graph, const std::vector<ThreadEdge>& edges);

}  // namespace hone::analysis::dependencies
