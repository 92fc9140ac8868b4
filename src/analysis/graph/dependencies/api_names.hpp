// The meaning of API calls and overheads for dependencies, derived from their names.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/graph/event_graph.hpp"

namespace hone::analysis::dependencies {

enum class ApiRole : uint8_t {
  kOther,
  kSynchronize,  ///< waits for a device, a stream or an event
  kQuery,        ///< asks whether a stream or an event is done; the result is 0 if it is
  kImplicit      ///< may wait for all work of the device: frees, allocations, unloading
};

/// Accepts recorded names; suffixes as in cudaMalloc_v3020, cuMemFree_v2 or cudaStreamSynchronize_ptsz are
/// ignored.
ApiRole api_role(std::string_view name);

/// True if the driver waited for room in the launch queue (COMMAND_BUFFER_FULL, "Command Buffer Full").
bool is_queue_full(std::string_view overhead);

/// True if an overhead is the profiler's own work and not the driver's (compiling, lazy loading, a full
/// queue).
bool is_profiler_overhead(std::string_view overhead);

/// Returns the role of every call of the graph.
std::vector<ApiRole> roles_of_calls(const EventGraph& graph);

}  // namespace hone::analysis::dependencies
