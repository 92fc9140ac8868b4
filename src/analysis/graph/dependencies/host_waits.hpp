// The waits of host threads: the causes that the contract gave, and those that only times show (R8 to R11).
#pragma once

#include <vector>

#include "analysis/graph/dependencies/contract.hpp"
#include "analysis/graph/dependencies/threads.hpp"

namespace hone::analysis::dependencies {

/// Counts of waits that add_host_waits left out because times contradict them, and of those that it inferred.
struct WaitCounts {
  int64_t contradicted = 0;
  int64_t inferred = 0;
};

/// Fills the graph's waits and their causes, ordered by call.
WaitCounts add_host_waits(EventGraph& graph, const std::vector<Enqueued>& enqueued,
                          const std::vector<ApiRole>& roles, const HostCauses& contract);

/// Fills the nodes of all threads, from calls, waits, which calls launched something and where edges to other
/// threads begin, and links operations to their launches. Returns how many operations seem to begin before
/// their launch.
int64_t add_nodes(EventGraph& graph, const std::vector<ThreadEdge>& edges);

}  // namespace hone::analysis::dependencies
