// Infers causes of waits that the trace does not record: blocking copies, synchronizing calls without a
// record, polls, and launches that found the launch queue full.
#pragma once

#include <vector>

#include "analysis/graph/dependencies/api_names.hpp"
#include "analysis/graph/dependencies/contract.hpp"

namespace hone::analysis::dependencies {

/// R8: for every successful query, returns the first query of its series of polls (itself if the series has
/// one element); -1 for other calls. A series consists of polls of one thread without another call between
/// them.
std::vector<int32_t> find_polls(const EventGraph& graph, const std::vector<ApiRole>& roles);

/// R9: finds copies and sets for which the launching call waited, because it returned after they had ended.
/// The memory kinds overrule the times: asynchronous copies between pinned and device memory do not block,
/// nor do copies within a device.
void infer_blocking_copies(const EventGraph& graph, std::vector<Cause>& causes);

/// Assumes that synchronizing calls and polls for which `recorded` is false waited for the operation that
/// ended last during the call, among the operations enqueued before it.
void infer_synchronizations(const EventGraph& graph, const std::vector<Enqueued>& enqueued,
                            const std::vector<ApiRole>& roles, const std::vector<int32_t>& polls,
                            const std::vector<bool>& recorded, std::vector<Cause>& causes);

/// R11: a launch that waited for room in the queue until an operation ended. `begin` is the begin of the
/// wait.
struct FullQueue {
  Time begin = 0;
  Cause cause;
};
/// Ordered by call.
std::vector<FullQueue> infer_full_queues(const EventGraph& graph);

}  // namespace hone::analysis::dependencies
