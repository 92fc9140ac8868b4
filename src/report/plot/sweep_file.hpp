// Reads the parts of a result file of `hone bench` that figures need (schema hone.bench, docs/BENCHMARK.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/results/run_record.hpp"

namespace hone::report {

/// How latencies spread around their p50, in ms.
struct Spread {
  std::optional<double> p25;  ///< of the samples
  std::optional<double> p75;
  /// The highest percentile that the number of samples supports: "p99" down to "p90"; empty when none does.
  std::string top;
  std::optional<double> top_value;
};

/// A run as the file has it, without its samples and without impossible figures; of a failed one the setup
/// and the failure.
struct SweepRun : bench::RunRecord {
  std::string model;      ///< as a file name: resnet50
  std::string processor;  ///< what computed: the GPU's name, or the CPU's; empty where not known
  std::string date;       ///< of the sweep, ISO 8601; empty where not known
  Spread spread;
  std::vector<std::string> doubts;  ///< fields left out because no such value can be: "latency_ms.p50 -3"

  std::string series() const { return setup.backend + " " + setup.precision; }
  /// "torch fp32", of a run with a speedup.
  std::string compared_with() const { return speedup->over.backend + " " + speedup->over.precision; }
};

/// The runs of a file. Bad input naming file and field when it is no such file.
std::vector<SweepRun> read_sweep_file(const std::filesystem::path& path);

}  // namespace hone::report
