// Explains why a GPU was idle: each interval without an operation is divided among the waits of the operation
// that ended the interval, back to its begin. The parts sum to the whole.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/graph/path_walk.hpp"
#include "base/json.hpp"

namespace hone::analysis {

enum class IdleCause : uint8_t {
  kHostCall,       ///< a host thread was in a call of the API
  kHostOther,      ///< a host thread was outside of such a call
  kProfiler,       ///< the profiler's own work
  kHostFunction,   ///< a host function ran in stream order
  kOtherDevice,    ///< the next operation waited for one of another device
  kLaunchLatency,  ///< the next operation had been launched but had not begun
  kQueueGap,       ///< the dependencies of the next operation had ended, but it had not begun
  kUnknown,        ///< the trace does not show what the next operation waited for
  kBeforeFirst,    ///< part of the span before the device's first operation
  kAfterLast       ///< part of the span after its last operation
};
std::string_view idle_cause_name(IdleCause cause);

struct IdleRow {
  IdleCause cause = IdleCause::kUnknown;
  std::string name;  ///< of the call, range, function or operation
  Time time = 0;     ///< ns
  double share = 0;  ///< share of the span, 0 to 1
  int64_t gaps = 0;  ///< number of idle intervals to which it contributed
};

/// Busy time and all rows sum to the length of the span.
struct DeviceIdle {
  int32_t device = 0;
  Span span;
  Time busy = 0;              ///< time in which at least one operation ran, ns
  Time idle = 0;              ///< ns
  int64_t gaps = 0;           ///< idle intervals
  Time longest = 0;           ///< the longest of them, ns
  std::vector<IdleRow> rows;  ///< longest first
};

struct IdleTime {
  std::vector<DeviceIdle> devices;
};

/// Idle time of every device that ran something, in the span; without a span, from the device's first
/// operation to its last. O(n log n).
IdleTime idle_time(const EventGraph& graph, std::optional<Span> span = std::nullopt);
IdleTime idle_time(const trace::Trace& trace, std::optional<Span> span = std::nullopt);

/// Calls `visit` for each idle interval of each device between its first and its last operation, with its
/// causes, newest first. The charges follow each other and fill the interval.
void visit_idle(const EventGraph& graph,
                const std::function<void(int32_t device, Span gap, const std::vector<Charge>&)>& visit);

Json to_json(const IdleTime& idle);

}  // namespace hone::analysis
