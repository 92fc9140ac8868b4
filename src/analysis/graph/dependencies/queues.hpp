// Finds waits that no program asks for: hardware queues ("channels"), which keep their order across streams,
// and a device that is full or whose driver waits until it is idle.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/graph/dependencies/collector.hpp"

namespace hone::analysis::dependencies {

/// Dense numbers by operation: of its channel, or where that is not known of its stream; -1 when neither is.
std::vector<int32_t> hardware_queues(const EventGraph& graph);

/// False dependencies: where an operation began right after one of another stream in its channel had ended,
/// and all that it really depends on had ended before. Other rules have to be in the collector.
void add_queue_order(const EventGraph& graph, DependencyCollector& collector);

/// False dependencies that only times show: an operation had been launched and all that it depends on had
/// ended, but it began when another one on its device ended, which ran for most of the time until then. One
/// kernel fills the device, or the driver waits for an idle device before it loads another's code.
void add_contention(const EventGraph& graph, DependencyCollector& collector);

}  // namespace hone::analysis::dependencies
