// See clock_repair.hpp.
#include "analysis/clock_repair.hpp"

#include <algorithm>
#include <limits>

#include "analysis/schema/critical_path.hpp"

namespace hone::analysis {
namespace {

using trace::Time;

/// As a function of the offset, the slope of the sum of violations starts at minus the number of launches and
/// grows by one at every bound.
Time best_offset(const ClockBounds& bounds) {
  Time low = std::numeric_limits<Time>::min();
  Time high = std::numeric_limits<Time>::max();
  for (const Time bound : bounds.at_least) low = std::max(low, bound);
  for (const Time bound : bounds.at_most) high = std::min(high, bound);
  if (low <= high) return std::clamp<Time>(0, low, high);
  std::vector<Time> bends(bounds.at_least);
  bends.insert(bends.end(), bounds.at_most.begin(), bounds.at_most.end());
  const auto flat = bends.begin() + static_cast<std::ptrdiff_t>(bounds.at_least.size());
  std::nth_element(bends.begin(), flat, bends.end());
  return std::clamp<Time>(0, *std::max_element(bends.begin(), flat), *flat);
}

void count_violations(const ClockBounds& bounds, Time offset, int64_t& count, Time& largest) {
  const auto violate = [&](Time by) {
    if (by <= 0) return;
    ++count;
    largest = std::max(largest, by);
  };
  for (const Time bound : bounds.at_least) violate(bound - offset);
  for (const Time bound : bounds.at_most) violate(offset - bound);
}

}  // namespace

Time ClockRepair::offset(int32_t device) const {
  for (const DeviceClock& clock : devices) {
    if (clock.device == device) return clock.offset;
  }
  return 0;
}

DeviceClock solve_clock(const ClockBounds& bounds) {
  DeviceClock clock;
  clock.device = bounds.device;
  clock.launches = static_cast<int64_t>(bounds.at_least.size());
  clock.waits = static_cast<int64_t>(bounds.at_most.size());
  Time ignored = 0;
  count_violations(bounds, 0, clock.violations, ignored);
  clock.offset = best_offset(bounds);
  count_violations(bounds, clock.offset, clock.residual, clock.largest_residual);
  return clock;
}

Json to_json(const ClockRepair& repair) { return base::described_json(repair.devices); }

}  // namespace hone::analysis
