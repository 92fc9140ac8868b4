// CUDA graphs (R12): the operations of each launch, and the dependencies among them.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/graph/dependencies/collector.hpp"
#include "analysis/graph/dependencies/operations.hpp"

namespace hone::analysis::dependencies {

struct GraphLaunch {
  std::vector<int32_t> operations;  ///< in order
  int32_t stream = -1;              ///< that the graph was most likely launched into; -1 unknown
  bool edges_known = false;
  std::vector<int32_t> leaves;  ///< operations on which no other of the launch depends
};

struct GraphLaunches {
  std::vector<GraphLaunch> launches;
  std::vector<int32_t> launch_of;  ///< of every operation; -1 outside of graphs
  std::vector<bool> is_root;       ///< of every operation: depends on none of its launch
};

/// Adds the edges that were recorded between nodes. Nodes that leave no record (empty ones, event records)
/// pass on the last operation that they waited for. Where no edges were recorded, order follows streams and
/// times.
GraphLaunches add_graph_edges(const EventGraph& graph, const StreamIndex& streams,
                              DependencyCollector& collector);

}  // namespace hone::analysis::dependencies
