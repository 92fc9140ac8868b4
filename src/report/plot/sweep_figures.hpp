// The figures of benchmark results: latency, throughput, speedup and memory of each model.
#pragma once

#include <optional>
#include <vector>

#include "report/plot/figure.hpp"
#include "report/plot/sweep_groups.hpp"

namespace hone::report {

/// Over the batches where there are several, else a line for each system. Null without a figure to show.
/// p50 in ms with bars from p25 to p99, or to the highest percentile that the samples support.
std::optional<Figure> latency_figure(const SweepGroup& group);
/// Per second; pipelined throughputs are series of their own.
std::optional<Figure> throughput_figure(const SweepGroup& group);
/// Speedups with 95 % intervals; those that hold 1 are called no difference.
std::optional<Figure> speedup_figure(const SweepGroup& group);
/// MB: of the host where the CPU computed, else of the device.
std::optional<Figure> memory_figure(const SweepGroup& group);

/// Returns those figures for which there are data.
std::vector<Figure> sweep_figures(const SweepGroup& group);

}  // namespace hone::report
