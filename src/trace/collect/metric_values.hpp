// Computes the requested metrics from the values that the GPU counted during the launches of kernels.
#pragma once

#include "trace/collect/metrics.hpp"

namespace hone::trace {

/// Replaces the counted metrics by the wanted ones, launch by launch, and adds a note on how the measurement
/// changed the program. If a launch lacks a value that a formula needs, or the divisor is 0, it gets no value
/// of that metric.
void finish_metrics(Trace& trace, const std::vector<WantedMetric>& wanted);

}  // namespace hone::trace
