// Hardware queues ("channels"): operations of different streams that went through one of them ran in its
// order, which no program asks for.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/dependencies/collector.hpp"

namespace hone::analysis::dependencies {

/// Dense numbers by operation: of its channel, or where that is not known of its stream; -1 when neither is.
std::vector<int32_t> hardware_queues(const EventGraph& graph);

/// False dependencies: where an operation began right after one of another stream in its channel had ended,
/// and all that it really depends on had ended before. Other rules have to be in the collector.
void add_queue_order(const EventGraph& graph, DependencyCollector& collector);

}  // namespace hone::analysis::dependencies
