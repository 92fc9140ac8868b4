// Computes the metrics that were asked for from the GPU's counts in the launches of kernels.
#pragma once

#include "trace/collect/metrics.hpp"

namespace hone::trace {

/// Replaces the counted metrics by the wanted ones, launch by launch, and says what measuring them did to the
/// program. A launch without all that a formula needs, or whose divisor is 0, has no value of it.
void finish_metrics(Trace& trace, const std::vector<WantedMetric>& wanted);

}  // namespace hone::trace
