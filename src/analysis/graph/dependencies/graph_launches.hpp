// CUDA graphs (R12): the operations of each launch, and the dependencies among them.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/graph/dependencies/collector.hpp"
#include "analysis/graph/dependencies/operations.hpp"

namespace hone::analysis::dependencies {

struct GraphLaunch {
  std::vector<int32_t> operations;  ///< in order
  int32_t stream = -1;              ///< the stream into which the graph was most likely launched; -1 unknown
  bool edges_known = false;
  std::vector<int32_t> leaves;  ///< operations on which no other operation of the launch depends
};

struct GraphLaunches {
  std::vector<GraphLaunch> launches;
  std::vector<int32_t> launch_of;  ///< launch of every operation; -1 outside of graphs
  std::vector<bool> is_root;       ///< for every operation: true if it depends on no operation of its launch
};

/// Adds the recorded edges between nodes. Nodes without a record (empty nodes, event records) pass on the
/// last operation that they waited for. If no edges were recorded, the order is inferred from streams and
/// times.
GraphLaunches add_graph_edges(const EventGraph& graph, const StreamIndex& streams,
                              DependencyCollector& collector);

}  // namespace hone::analysis::dependencies
