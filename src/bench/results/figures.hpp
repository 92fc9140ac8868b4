// Figures for the result file of a run, computed from its samples.
#pragma once

#include <optional>
#include <vector>

#include "bench/results/results.hpp"
#include "bench/results/run_record.hpp"

namespace hone::bench {

TimesFigure times_figure(const std::vector<double>& times);
/// Figures of one part of runs; nothing if it was not measured or is always zero.
std::optional<TimesFigure> phase_figure(const std::vector<double>& times);

RunRecord record_of(const Run& run);
SweepRecord record_of(const Sweep& sweep);

}  // namespace hone::bench
