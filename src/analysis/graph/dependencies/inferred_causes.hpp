// Causes of waits that no record names: blocking copies, synchronizing calls without a record, polls, and
// launches that found the launch queue full.
#pragma once

#include <vector>

#include "analysis/graph/dependencies/api_names.hpp"
#include "analysis/graph/dependencies/contract.hpp"

namespace hone::analysis::dependencies {

/// R8: of every successful query the first of the polls that ended with it, itself when there were no others;
/// -1 of other calls. Polls of a thread with no other call between them belong together.
std::vector<int32_t> find_polls(const EventGraph& graph, const std::vector<ApiRole>& roles);

/// R9: copies and sets that the call which launched them waited for: it returned after they had ended. The
/// memory kinds overrule the times: asynchronous copies between pinned and device memory do not block, nor
/// do copies within a device.
void infer_blocking_copies(const EventGraph& graph, std::vector<Cause>& causes);

/// Synchronizing calls and polls for which `recorded` is false waited for the operation that ended last while
/// they did, of the work enqueued before.
void infer_synchronizations(const EventGraph& graph, const std::vector<Enqueued>& enqueued,
                            const std::vector<ApiRole>& roles, const std::vector<int32_t>& polls,
                            const std::vector<bool>& recorded, std::vector<Cause>& causes);

/// R11: a launch found no room in the queue until an operation ended. `begin` is where it began to wait.
struct FullQueue {
  Time begin = 0;
  Cause cause;
};
/// Ordered by call.
std::vector<FullQueue> infer_full_queues(const EventGraph& graph);

}  // namespace hone::analysis::dependencies
