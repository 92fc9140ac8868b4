// The figures of benchmark results: latency, throughput, speedup and memory of each model.
#pragma once

#include <optional>
#include <vector>

#include "report/plot/figure.hpp"
#include "report/plot/sweep_groups.hpp"

namespace hone::report {

/// With several batches, values over the batch; else one line for each system. Null if there is nothing to
/// show. Shows p50 in ms with error bars from p25 to p99, or to the highest percentile that the samples
/// support.
std::optional<Figure> latency_figure(const SweepGroup& group);
/// Per second; pipelined throughputs are separate series.
std::optional<Figure> throughput_figure(const SweepGroup& group);
/// Speedups with 95 % intervals; if the interval contains 1, the figure says that there is no difference.
std::optional<Figure> speedup_figure(const SweepGroup& group);
/// In MB: host memory if the CPU computed, else device memory.
std::optional<Figure> memory_figure(const SweepGroup& group);

/// Returns those of these figures that have data.
std::vector<Figure> sweep_figures(const SweepGroup& group);

}  // namespace hone::report
