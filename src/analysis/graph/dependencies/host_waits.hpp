// Adds the waits of host threads: those that the API guarantees, and those that only the times show (R8 to
// R11).
#pragma once

#include <vector>

#include "analysis/graph/dependencies/contract.hpp"
#include "analysis/graph/dependencies/threads.hpp"

namespace hone::analysis::dependencies {

/// Numbers of waits that add_host_waits left out because they contradict the times, and of waits that it
/// inferred.
struct WaitCounts {
  int64_t contradicted = 0;
  int64_t inferred = 0;
};

/// Fills the graph's waits and their causes, ordered by call.
WaitCounts add_host_waits(EventGraph& graph, const std::vector<Enqueued>& enqueued,
                          const std::vector<ApiRole>& roles, const HostCauses& contract);

/// Fills the nodes of all threads, from calls, waits, launches and edges to other threads, and links
/// operations to their launches. Returns the number of operations that seem to begin before their launch.
int64_t add_nodes(EventGraph& graph, const std::vector<ThreadEdge>& edges);

}  // namespace hone::analysis::dependencies
