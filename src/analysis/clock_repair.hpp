// Host and GPU clocks disagree by microseconds, and then kernels seem to start before they are launched or to
// run on after a wait for them has ended. Both bound how far a device's clock is off.
#pragma once

#include <cstdint>
#include <vector>

#include "base/json.hpp"
#include "trace/trace.hpp"

namespace hone::analysis {

/// Bounds on the clock of one device from its events: at_least <= offset <= at_most, each as often as it was
/// observed. ns.
struct ClockBounds {
  int32_t device = 0;
  std::vector<trace::Time> at_least;  ///< begin of a launch minus begin of the operation
  std::vector<trace::Time> at_most;   ///< end of a wait minus end of the operation waited for
};

/// How the times of one device were moved. ns.
struct DeviceClock {
  int32_t device = 0;
  trace::Time offset = 0;  ///< added to all its times
  int64_t launches = 0;    ///< observations of each kind
  int64_t waits = 0;
  int64_t violations = 0;  ///< before
  int64_t residual = 0;    ///< violations that remain after it
  trace::Time largest_residual = 0;
};

struct ClockRepair {
  std::vector<DeviceClock> devices;

  /// 0 for a device that is not in the list.
  trace::Time offset(int32_t device) const;
};

/// The offset with the smallest sum of violations and, of those, the smallest one: 0 unless events contradict
/// each other without it. The sum is convex in the offset and bends at the bounds. O(n).
DeviceClock solve_clock(const ClockBounds& bounds);

Json to_json(const ClockRepair& repair);

}  // namespace hone::analysis
