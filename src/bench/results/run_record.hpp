// A run and a sweep as stored in the result file; run_schema.hpp describes their fields, by which they are
// written and read. All code that shows results uses these structs. Plain data; unknown values are absent.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bootstrap.hpp"
#include "base/json.hpp"
#include "bench/results/verdict.hpp"
#include "bench/setup.hpp"

namespace hone::bench {

/// Milliseconds.
struct TimesFigure {
  std::optional<double> p50, p90, p95, p99, mean, sd;
  int64_t n = 0;
  std::optional<double> min, max;
  std::optional<std::array<double, 2>> p50_interval;
  std::vector<std::string> supported;  ///< percentiles
};

struct PipelinedFigure {
  double throughput = 0;
  int streams = 1;
  bool transfers = false;
  int64_t runs = 0;
  double seconds = 0;
};

/// Megabytes.
struct MemoryFigure {
  std::optional<double> baseline, inputs, weights, activations, engine_file;
};

/// Megabytes.
struct DeviceMemoryFigure {
  std::optional<double> planned, allocated, peak_allocated, driver, process, streams_allocated;
};

struct GrowthFigure {
  int64_t runs = 0;
  std::optional<std::array<double, 2>> resident, device;  ///< megabytes, first and last
};

struct AccuracyFigure {
  std::optional<double> relative_l2, max_abs, top1_agreement;
  int64_t samples = 0;
  std::optional<std::string> reason;
};

struct SystemName {
  std::string backend;
  std::string precision;
};

struct SpeedupFigure {
  SystemName over;
  std::optional<double> ratio;
  std::optional<std::array<double, 2>> interval;
  bool interleaved = false;

  static SpeedupFigure of(SystemName over, const base::Ratio& ratio, bool interleaved) {
    return {std::move(over), ratio.value,
            ratio.known ? std::optional(std::array{ratio.low, ratio.high}) : std::nullopt, interleaved};
  }
  /// True if the interval excludes 1, so that the difference is significant.
  bool differs() const { return interval && ((*interval)[0] > 1 || (*interval)[1] < 1); }
};

struct WarmupFigure {
  size_t runs = 0;
  double seconds = 0;
  bool stationary = false;
};

struct MachineFigure {
  double other_cpu = 0;
  double near_cpu = 0;
  double steal = 0;
  int64_t throttles = 0;
  Json gpu;
};

/// One layer of a run, as `hone bench --layers` measures it after the run's rounds.
struct LayerFigure {
  std::string name;
  std::string kind;    ///< operator
  std::string tactic;  ///< the tactic that runs it
  std::vector<std::string> sources;
  std::vector<std::string> inputs;  ///< "float32 1x64x56x56 blocked8"
  std::vector<std::string> outputs;
  TimesFigure time;  ///< milliseconds per run
  double flops = 0;  ///< a multiply-add counts as two; 0 if unknown
  double bytes = 0;  ///< inputs, weights and outputs, each counted once; 0 if unknown
};

struct RunRecord {
  Setup setup;
  /// Runs with the same number took turns in the same rounds. Older files lack it.
  std::optional<int> session;
  std::string backend_version;
  TimesFigure latency;
  std::optional<double> throughput;
  std::optional<TimesFigure> device, enqueue, h2d, d2h;
  std::optional<PipelinedFigure> pipelined;
  std::optional<double> peak_memory;  ///< megabytes
  MemoryFigure memory;
  std::optional<DeviceMemoryFigure> device_memory;
  std::optional<GrowthFigure> growth;
  AccuracyFigure accuracy;
  std::optional<SpeedupFigure> speedup;
  double load_ms = 0;
  WarmupFigure warmup;
  MachineFigure machine;
  std::optional<double> predicted;  ///< latency, milliseconds
  std::optional<double> int8_share;
  std::vector<std::string> notes;
  Verdict verdict;
  std::optional<std::string> failure;
  base::Rounds samples;  ///< latencies in milliseconds
  std::vector<double> block_wall_ms;
  /// Present in the result file only if there are any (layer_schema.hpp).
  std::vector<LayerFigure> layers;

  bool measured() const { return !failure && !samples.empty(); }
};

struct SweepRecord {
  bool complete = false;
  Json context;
  Json options;
  std::vector<RunRecord> runs;
};

}  // namespace hone::bench
