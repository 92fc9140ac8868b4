// Finds waits that the program did not request: shared hardware queues ("channels") that keep their order
// across streams, and a device that is full or whose driver waits until it is idle.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/graph/dependencies/collector.hpp"

namespace hone::analysis::dependencies {

/// Returns the dense number of each operation's channel or, if that is unknown, of its stream; -1 if both are
/// unknown.
std::vector<int32_t> hardware_queues(const EventGraph& graph);

/// Adds false dependencies by shared channels: an operation began right after one of another stream in its
/// channel had ended, although its real dependencies had ended before. All other rules must have been applied
/// to the collector.
void add_queue_order(const EventGraph& graph, DependencyCollector& collector);

/// Adds false dependencies that only the times show: an operation had been launched and its dependencies had
/// ended, but it began only when another operation on its device ended, which ran for most of the wait.
/// Either one kernel fills the device, or the driver waits for an idle device before it loads the code of
/// another kernel.
void add_contention(const EventGraph& graph, DependencyCollector& collector);

}  // namespace hone::analysis::dependencies
