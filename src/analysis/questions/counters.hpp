// Counters over a window of time: their means, and which of them measures what, whoever named it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/questions/gpu_usage.hpp"

namespace hone::analysis {

enum class CounterRole : uint8_t { kGrActive, kSmsActive, kWarpsActive, kTensorActive };

/// Every counter of the device that has a sample in the window, by name. A sample stands for the time since
/// the one before it; the first of a counter stands for none and is left out (it spans all the time since
/// sampling was switched on).
std::vector<CounterMean> mean_counters(const trace::Trace& trace, int32_t device, Span window);

/// The mean of the counter in that role, when it is in per cent.
std::optional<Figure> measured_share(const std::vector<CounterMean>& counters, CounterRole role);

}  // namespace hone::analysis
