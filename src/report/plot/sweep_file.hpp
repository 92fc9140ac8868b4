// What figures need of a result file of `hone bench` (schema hone.bench, docs/BENCHMARK.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "bench/setup.hpp"

namespace hone::report {

/// Null where the file has no such figure, or an impossible one (see SweepRun::doubts).
struct MeasuredLatency {
  double p50 = 0;             ///< ms, as the others
  std::optional<double> p25;  ///< of the samples
  std::optional<double> p75;
  /// The highest percentile that the number of samples supports: "p99" down to "p90"; empty when none does.
  std::string top;
  std::optional<double> top_value;
};

struct MeasuredSpeedup {
  std::string over;  ///< "torch fp32"
  double ratio = 0;
  std::optional<base::Interval> interval;  ///< 95 %
  bool interleaved = true;

  bool differs() const { return interval && (interval->low > 1 || interval->high < 1); }
};

/// MB of 10^6 bytes.
struct MeasuredMemory {
  std::optional<double> peak;  ///< of the host
  std::optional<double> baseline;
  std::optional<double> inputs;
  std::optional<double> weights;
  std::optional<double> activations;
  std::optional<double> device;            ///< process_mb, else driver_mb
  std::optional<double> device_allocated;  ///< by the backend, part of it
};

struct SweepRun {
  bench::Setup setup;     ///< 0 threads where not known
  std::string model;      ///< as a file name: resnet50
  std::string processor;  ///< what computed: the GPU's name, or the CPU's; empty where not known
  std::string date;       ///< of the sweep, ISO 8601; empty where not known
  bool valid = true;
  std::optional<std::string> failure;
  std::optional<MeasuredLatency> latency;
  std::optional<double> throughput;  ///< per second
  std::optional<double> pipelined;   ///< per second
  int64_t streams = 0;               ///< of `pipelined`
  std::optional<MeasuredSpeedup> speedup;
  MeasuredMemory memory;
  std::vector<std::string> doubts;  ///< fields left out because no such value can be: "latency_ms.p50 -3"

  std::string series() const { return setup.backend + " " + setup.precision; }
};

/// The runs of a file. Bad input naming file and field when it is no such file.
std::vector<SweepRun> read_sweep_file(const std::filesystem::path& path);

}  // namespace hone::report
