// See figures.hpp; docs/BENCHMARK.md says what the fields mean.
#include "bench/results/figures.hpp"

#include <algorithm>

#include "base/statistics.hpp"

namespace hone::bench {
namespace {

constexpr double kMegabyte = 1e6;

/// The percentiles that the number of samples supports.
std::vector<std::string> supported_percentiles(int64_t n) {
  std::vector<std::string> names;
  for (const int percent : {50, 90, 95, 99}) {
    if (n >= base::samples_for_percentile(percent / 100.0)) names.push_back("p" + std::to_string(percent));
  }
  return names;
}

std::optional<std::array<double, 2>> pair_of_megabytes(int64_t first, int64_t last) {
  if (first <= 0) return std::nullopt;
  return std::array{static_cast<double>(first) / kMegabyte, static_cast<double>(last) / kMegabyte};
}

}  // namespace

std::optional<double> megabytes(int64_t bytes) {
  return bytes > 0 ? std::optional(static_cast<double>(bytes) / kMegabyte) : std::nullopt;
}

std::optional<std::string> text_or_null(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

TimesFigure times_figure(const std::vector<double>& times) {
  const base::Summary s = base::summarize(times);
  if (s.n == 0) return {};
  return {s.p50,
          s.p90,
          s.p95,
          s.p99,
          s.mean,
          s.sd,
          s.n,
          s.min,
          s.max,
          s.p50_interval.bounded() ? std::optional(std::array{s.p50_interval.low, s.p50_interval.high})
                                   : std::nullopt,
          supported_percentiles(s.n)};
}

std::optional<TimesFigure> phase_figure(const std::vector<double>& times) {
  const bool known = std::any_of(times.begin(), times.end(), [](double time) { return time > 0; });
  return known ? std::optional(times_figure(times)) : std::nullopt;
}

std::optional<PipelinedFigure> pipelined_figure(const Run& run) {
  if (run.pipelined.runs == 0) return std::nullopt;
  return PipelinedFigure{run.pipelined_throughput(), run.setup.streams, run.setup.transfers,
                         run.pipelined.runs, run.pipelined.wall_ms / 1e3};
}

std::optional<double> throughput_figure(const Run& run) {
  return run.measured() ? std::optional(run.throughput()) : std::nullopt;
}

std::optional<DeviceMemoryFigure> device_memory_figure(const Run& run) {
  if (run.setup.on_cpu()) return std::nullopt;
  const backend::DeviceMemoryUse& device = run.memory.device;
  return DeviceMemoryFigure{megabytes(device.planned),
                            megabytes(device.allocated),
                            megabytes(device.peak_allocated),
                            megabytes(device.driver),
                            megabytes(run.gpu.process_memory_bytes.value_or(0)),
                            megabytes(run.memory.streams_allocated)};
}

std::optional<GrowthFigure> growth_figure(const Run& run) {
  const MemoryGrowth& growth = run.growth;
  if (growth.runs == 0) return std::nullopt;
  return GrowthFigure{growth.runs, pair_of_megabytes(growth.resident_first, growth.resident_last),
                      pair_of_megabytes(growth.device_first, growth.device_last)};
}

std::optional<std::array<double, 2>> interval_of(const Speedup& speedup) {
  if (!speedup.ratio.known) return std::nullopt;
  return std::array{speedup.ratio.low, speedup.ratio.high};
}

WarmupFigure warmup_figure(const Run& run) { return {run.warmup_runs, run.warmup_seconds, run.warm}; }

MachineFigure machine_figure(const Run& run) {
  return {run.interference.other_share(), run.interference.near_share(), run.interference.steal_share(),
          run.interference.throttle_events, run.setup.on_cpu() ? Json(nullptr) : run.gpu.to_json()};
}

}  // namespace hone::bench
