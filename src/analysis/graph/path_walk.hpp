// Walks the event graph backward in time: from an activity to the one that it waited for last, and so on.
// Each activity on the way is charged with the time that it took. Charges follow each other without a gap, so
// that they sum to the time walked through exactly.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/graph/event_graph.hpp"

namespace hone::analysis {

enum class ChargeKind : uint8_t {
  kCall,           ///< a host thread in a call of the CUDA or the threads API
  kOther,          ///< a host thread outside of one
  kProfiler,       ///< a host thread doing the profiler's own work
  kKernel,         ///< an operation ran
  kCopy,           ///< so
  kSet,            ///< so
  kHostFunction,   ///< so
  kLaunchLatency,  ///< from the begin of a launch to the begin of the operation
  kQueueGap,       ///< from the end of the operation waited for to the begin of the one that waited
  kUnknown         ///< before an operation of which neither launch nor dependencies are known
};

struct Charge {
  Span span;
  ChargeKind kind = ChargeKind::kUnknown;
  StringId name = 0;       ///< of the call, the range or operator, the operation; 0 none
  int32_t thread = -1;     ///< index into Trace::threads
  int32_t operation = -1;  ///< that ran or, of latencies and gaps, that was to begin
};

/// The last thing that an operation waited for.
struct Decisive {
  bool by_launch = false;
  int32_t dependency = -1;  ///< index into EventGraph::dependencies; -1 when by_launch, or when unknown
  Time time = 0;
};
Decisive decisive(const EventGraph& graph, int32_t operation);

/// When a launch allowed its operation to begin: its begin, or that of the operation where clocks contradict.
Time launch_time(const EventGraph& graph, const Operation& operation);

/// The cause that ended last; -1 when the thread did not wait.
int32_t decisive_cause(const EventGraph& graph, const HostWait& wait);

/// Walks from the last event of the graph back to the first. Newest first.
std::vector<Charge> walk_from_end(const EventGraph& graph);

/// Appends what happened in [stop, begin of the operation], newest first.
void walk_before(const EventGraph& graph, int32_t operation, Time stop, std::vector<Charge>& charges);

ChargeKind charge_kind(OperationKind kind);

/// As people read it: "<Other>", "<Other> in aten::conv2d", "<Launch latency>", "cudaMemcpy".
std::string charge_name(const EventGraph& graph, ChargeKind kind, StringId name);

/// "call", "other", "launch_latency": for JSON.
std::string_view charge_kind_name(ChargeKind kind);

}  // namespace hone::analysis
