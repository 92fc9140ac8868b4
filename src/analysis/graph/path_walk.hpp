// Walks the event graph backward in time: from an activity to the one for which it waited last, and so on.
// Each activity on the way is charged with its time. Charges follow each other without gaps, so their sum is
// exactly the length of the walk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/graph/event_graph.hpp"

namespace hone::analysis {

enum class ChargeKind : uint8_t {
  kCall,           ///< a host thread in a call of the CUDA API or the threads API
  kOther,          ///< a host thread outside of such a call
  kProfiler,       ///< a host thread doing the profiler's own work
  kKernel,         ///< an operation ran
  kCopy,           ///< an operation ran
  kSet,            ///< an operation ran
  kHostFunction,   ///< an operation ran
  kLaunchLatency,  ///< from the begin of a launch to the begin of the operation
  kQueueGap,       ///< from the end of the awaited operation to the begin of the one that waited
  kUnknown         ///< before an operation whose launch and dependencies are unknown
};

struct Charge {
  Span span;
  ChargeKind kind = ChargeKind::kUnknown;
  StringId name = 0;       ///< of the call, the range or operator, or the operation; 0 none
  int32_t thread = -1;     ///< index into Trace::threads
  int32_t operation = -1;  ///< the one that ran or, for latencies and gaps, the one that was about to begin
};

/// The dependency of an operation that was satisfied last.
struct Decisive {
  bool by_launch = false;
  int32_t dependency = -1;  ///< index into EventGraph::dependencies; -1 if by_launch, or if unknown
  Time time = 0;
};
Decisive decisive(const EventGraph& graph, int32_t operation);

/// The time at which a launch allowed its operation to begin: the begin of the launch, or of the operation if
/// the clocks contradict that.
Time launch_time(const EventGraph& graph, const Operation& operation);

/// The cause that ended last; -1 if the thread did not wait.
int32_t decisive_cause(const EventGraph& graph, const HostWait& wait);

/// Walks from the last event of the graph back to the first. The newest charge comes first.
std::vector<Charge> walk_from_end(const EventGraph& graph);

/// Appends the charges of [stop, begin of the operation], newest first.
void walk_before(const EventGraph& graph, int32_t operation, Time stop, std::vector<Charge>& charges);

ChargeKind charge_kind(OperationKind kind);

/// A name for people: "<Other>", "<Other> in aten::conv2d", "<Launch latency>", "cudaMemcpy".
std::string charge_name(const EventGraph& graph, ChargeKind kind, StringId name);

/// A name for JSON: "call", "other", "launch_latency".
std::string_view charge_kind_name(ChargeKind kind);

}  // namespace hone::analysis
