// Counters over a window of time: their means, and the quantity that each measures, under the names of all
// recorders.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/questions/gpu_usage.hpp"

namespace hone::analysis {

enum class CounterRole : uint8_t { kGrActive, kSmsActive, kWarpsActive, kTensorActive };

/// Returns the mean of every counter of the device that has a sample in the window, by name. A sample covers
/// the time since the previous one. The first sample of a counter is left out, because it covers all the time
/// since sampling was switched on.
std::vector<CounterMean> mean_counters(const trace::Trace& trace, int32_t device, Span window);

/// The mean of the counter with this role, if its unit is per cent.
std::optional<Figure> measured_share(const std::vector<CounterMean>& counters, CounterRole role);

}  // namespace hone::analysis
