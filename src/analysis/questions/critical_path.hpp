// The critical path of a GPU program, as in nvprof --dependency-analysis: the chain of activities from the
// end of the program back to its begin in which each waited for the previous one. The program becomes shorter
// only if an activity on it becomes faster.
//
// Algorithm: backward walk over the event graph, after Schmitt, Stolle, Dietrich, "CASITA", ICPPW 2014
// (doi:10.1109/ICPPW.2014.35).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/graph/path_walk.hpp"
#include "base/json.hpp"

namespace hone::analysis {

/// All calls or operations of one name, or one kind of time between them. Times in ns.
struct FunctionTime {
  ChargeKind kind = ChargeKind::kUnknown;
  std::string name;
  int64_t calls = 0;
  Time on_path = 0;
  double share = 0;  ///< share of the wall time, 0 to 1
  /// Time in which a host thread was blocked in it, waiting for the GPU or another thread. This time itself
  /// is not on the path.
  Time waiting = 0;
  /// Time in which launched operations waited for others than their predecessor in the stream.
  Time device_waiting = 0;
  /// The part of it in which only false dependencies (a shared hardware queue) delayed operations.
  Time queue_delay = 0;
  /// For operations: waiting time of host threads while they ran. For host time: idle time of devices whose
  /// next operation had to wait for it.
  Time blame = 0;
};

struct PathSegment {
  Span span;
  int32_t function = -1;  ///< index into CriticalPath::functions
  int32_t thread = -1;    ///< index into Trace::threads: the thread, for host time
  int32_t operation =
      -1;              ///< index into EventGraph::operations: the operation that ran or was about to begin
  int32_t event = -1;  ///< of that operation: index into Trace::device_events or (host functions) host_events
};

struct CriticalPath {
  Span window;
  Time wall = 0;  ///< length of the window; equals the sum of on_path of all functions
  /// All names of the trace, also those that are not on the path. Ordered by on_path, then waiting, then
  /// name.
  std::vector<FunctionTime> functions;
  std::vector<PathSegment> segments;  ///< oldest first, without gaps
  Time waiting = 0;                   ///< of all host threads
  Time profiler_overhead = 0;         ///< on the path
  ClockRepair clock;
  std::vector<trace::Doubt> doubts;
};

/// The longest segments in order of time, as rows of numbers.
struct SegmentTable {
  static constexpr std::array<std::string_view, 5> kColumns = {"start_ns", "end_ns", "function", "thread",
                                                               "event"};
  std::vector<std::array<int64_t, kColumns.size()>> rows;
  size_t left_out = 0;
};

/// At most 20'000 segments.
SegmentTable longest_segments(const CriticalPath& path);

/// O(n log n). Checks that the charges fill the window.
CriticalPath critical_path(const EventGraph& graph);
CriticalPath critical_path(const trace::Trace& trace);

Json to_json(const CriticalPath& path);

}  // namespace hone::analysis
