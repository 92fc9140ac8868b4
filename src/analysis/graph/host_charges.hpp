// Divides an interval of a host thread among its activities.
#pragma once

#include <vector>

#include "analysis/graph/path_walk.hpp"

namespace hone::analysis {

/// Appends the parts of the interval, newest first: API calls, the profiler's own work and, outside of both,
/// the innermost range or operator. O(log n + parts).
void charge_host(const EventGraph& graph, int32_t thread, Span span, std::vector<Charge>& charges);

/// Like charge_host, but for an interval between a launch on the thread and the begin of its operation: all
/// of it is latency, except for the profiler's own work inside the call.
void charge_launch(const EventGraph& graph, int32_t operation, Span span, std::vector<Charge>& charges);

}  // namespace hone::analysis
