// Parts of a run's entry in the result file that are made from what was sampled: times, and what only a
// device has. What is not known is absent.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "bench/results/run.hpp"

namespace hone::bench {

/// Bytes as megabytes; nothing for none.
std::optional<double> megabytes(int64_t bytes);
std::optional<std::string> text_or_null(const std::string& text);

/// Milliseconds.
struct TimesFigure {
  std::optional<double> p50, p90, p95, p99, mean, sd;
  int64_t n = 0;
  std::optional<double> min, max;
  std::optional<std::array<double, 2>> p50_interval;
  std::vector<std::string> supported;  ///< percentiles
};
TimesFigure times_figure(const std::vector<double>& times);
/// The same for a part of runs: nothing when it was not measured or is nothing but zeros.
std::optional<TimesFigure> phase_figure(const std::vector<double>& times);

struct PipelinedFigure {
  double throughput = 0;
  int streams = 1;
  bool transfers = false;
  int64_t runs = 0;
  double seconds = 0;
};
std::optional<PipelinedFigure> pipelined_figure(const Run& run);
std::optional<double> throughput_figure(const Run& run);

/// Megabytes.
struct DeviceMemoryFigure {
  std::optional<double> planned, allocated, peak_allocated, driver, process, streams_allocated;
};
std::optional<DeviceMemoryFigure> device_memory_figure(const Run& run);

struct GrowthFigure {
  int64_t runs = 0;
  std::optional<std::array<double, 2>> resident, device;  ///< megabytes, first and last
};
std::optional<GrowthFigure> growth_figure(const Run& run);

struct SystemName {
  std::string backend;
  std::string precision;
};
std::optional<std::array<double, 2>> interval_of(const Speedup& speedup);

struct WarmupFigure {
  size_t runs = 0;
  double seconds = 0;
  bool stationary = false;
};
WarmupFigure warmup_figure(const Run& run);

struct MachineFigure {
  double other_cpu = 0;
  double near_cpu = 0;
  double steal = 0;
  int64_t throttles = 0;
  Json gpu;
};
MachineFigure machine_figure(const Run& run);

}  // namespace hone::bench
