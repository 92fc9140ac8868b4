// Corrects the clocks of GPUs. Host and GPU clocks disagree by microseconds, so that kernels may seem to
// start before their launch, or to run on after a wait for them has ended. Both kinds of contradiction bound
// the error of a device's clock.
#pragma once

#include <cstdint>
#include <vector>

#include "base/json.hpp"
#include "trace/trace.hpp"

namespace hone::analysis {

/// Bounds on the clock of one device from its events: at_least <= offset <= at_most. A bound appears as often
/// as it was observed. In ns.
struct ClockBounds {
  int32_t device = 0;
  std::vector<trace::Time> at_least;  ///< begin of a launch minus begin of the operation
  std::vector<trace::Time> at_most;   ///< end of a wait minus end of the awaited operation
};

/// The correction of one device's times. In ns.
struct DeviceClock {
  int32_t device = 0;
  trace::Time offset = 0;  ///< added to all times of the device
  int64_t launches = 0;    ///< observations of each kind
  int64_t waits = 0;
  int64_t violations = 0;  ///< contradictions before the correction
  int64_t residual = 0;    ///< contradictions that remain after it
  trace::Time largest_residual = 0;
};

struct ClockRepair {
  std::vector<DeviceClock> devices;

  /// Returns 0 for a device that is not in the list.
  trace::Time offset(int32_t device) const;
};

/// Returns the offset with the smallest sum of violations and, among equal ones, the smallest offset: 0
/// unless events contradict each other. The sum is a convex, piecewise linear function of the offset with its
/// bends at the bounds. O(n).
DeviceClock solve_clock(const ClockBounds& bounds);

Json to_json(const ClockRepair& repair);

}  // namespace hone::analysis
