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

/// Returns nothing for 0.
std::optional<double> megabytes(int64_t bytes) {
  return bytes > 0 ? std::optional(static_cast<double>(bytes) / kMegabyte) : std::nullopt;
}

std::optional<PipelinedFigure> pipelined_figure(const Run& run) {
  if (run.pipelined.runs == 0) return std::nullopt;
  return PipelinedFigure{run.pipelined_throughput(), run.setup.streams, run.setup.transfers,
                         run.pipelined.runs, run.pipelined.wall_ms / 1e3};
}

MemoryFigure memory_figure(const RunMemory& memory) {
  return {megabytes(memory.baseline), megabytes(memory.inputs), megabytes(memory.weights),
          megabytes(memory.activations), megabytes(memory.engine_file)};
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

std::optional<GrowthFigure> growth_figure(const MemoryGrowth& growth) {
  if (growth.runs == 0) return std::nullopt;
  return GrowthFigure{growth.runs, pair_of_megabytes(growth.resident_first, growth.resident_last),
                      pair_of_megabytes(growth.device_first, growth.device_last)};
}

AccuracyFigure accuracy_figure(const Accuracy& accuracy) {
  return {accuracy.relative_l2, accuracy.max_abs, accuracy.top1_agreement, accuracy.samples,
          accuracy.reason.empty() ? std::nullopt : std::optional(accuracy.reason)};
}

MachineFigure machine_figure(const Run& run) {
  return {run.interference.other_share(), run.interference.near_share(), run.interference.steal_share(),
          run.interference.throttle_events, run.setup.on_cpu() ? Json(nullptr) : run.gpu.to_json()};
}

}  // namespace

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

RunRecord record_of(const Run& run) {
  RunRecord record;
  record.setup = run.setup;
  record.session = run.session;
  record.backend_version = run.backend_version;
  record.latency = times_figure(base::all_samples(run.rounds));
  if (run.measured()) record.throughput = run.throughput();
  record.device = phase_figure(run.phases.device_ms);
  record.enqueue = phase_figure(run.phases.enqueue_ms);
  record.h2d = phase_figure(run.phases.h2d_ms);
  record.d2h = phase_figure(run.phases.d2h_ms);
  record.pipelined = pipelined_figure(run);
  record.peak_memory = megabytes(run.memory.peak);
  record.memory = memory_figure(run.memory);
  record.device_memory = device_memory_figure(run);
  record.growth = growth_figure(run.growth);
  record.accuracy = accuracy_figure(run.accuracy);
  if (const auto& speedup = run.speedup)
    record.speedup =
        SpeedupFigure::of({speedup->backend, speedup->precision}, speedup->ratio, speedup->interleaved);
  record.load_ms = run.load_ms;
  record.warmup = {run.warmup_runs, run.warmup_seconds, run.warm};
  record.machine = machine_figure(run);
  record.predicted = run.predicted_ms;
  record.int8_share = run.int8_share;
  record.notes = run.notes;
  record.verdict = run.verdict;
  record.failure = run.failure;
  record.samples = run.rounds;
  record.block_wall_ms = run.block_wall_ms;
  record.layers = run.layers;
  return record;
}

SweepRecord record_of(const Sweep& sweep) {
  SweepRecord record{sweep.complete, sweep.context, sweep.options, {}};
  for (const Run& run : sweep.runs) record.runs.push_back(record_of(run));
  return record;
}

}  // namespace hone::bench
