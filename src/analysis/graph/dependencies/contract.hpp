// Derives the order that the CUDA API guarantees (R2 to R7, R12). It goes once through everything that was
// enqueued in streams, in that order, and simulates the driver's state: the pending work of each stream, the
// recorded events, and the streams that the default stream blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/graph/dependencies/api_names.hpp"
#include "analysis/graph/dependencies/collector.hpp"
#include "analysis/graph/dependencies/graph_launches.hpp"
#include "analysis/graph/dependencies/operations.hpp"

namespace hone::analysis::dependencies {

/// States that a call returned only after an operation had ended.
struct Cause {
  int32_t call = -1;
  int32_t operation = -1;
  WaitKind kind = WaitKind::kStream;
  bool inferred = false;
};

struct HostCauses {
  std::vector<Cause> causes;
  /// For every call: true if the trace says what it waited for, even if that is nothing.
  std::vector<bool> recorded;
  int64_t unresolved = 0;  ///< number of waits for events whose record is not in the trace
};

/// Adds the dependencies of operations to the collector, and returns those of host calls.
HostCauses follow_contract(const EventGraph& graph, const StreamIndex& streams, const CallIndex& index,
                           const std::vector<Enqueued>& enqueued, const std::vector<ApiRole>& roles,
                           const GraphLaunches& launches, DependencyCollector& collector);

}  // namespace hone::analysis::dependencies
