// Reads the parts of a result file of `hone bench` that figures need (schema hone.bench, docs/BENCHMARK.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/results/run_record.hpp"

namespace hone::report {

/// The distribution of latencies around p50, in ms.
struct Spread {
  std::optional<double> p25;  ///< of the samples
  std::optional<double> p75;
  /// The highest percentile that the number of samples supports, from "p99" down to "p90"; empty if it
  /// supports none.
  std::string top;
  std::optional<double> top_value;
};

/// A run from the file, without its samples and without impossible figures. If it failed, it has only the
/// setup and the failure.
struct SweepRun : bench::RunRecord {
  std::string processor;     ///< name of the GPU or CPU that computed; empty if unknown
  std::string date;          ///< date of the sweep, ISO 8601; empty if unknown
  std::string input_shapes;  ///< bench::input_shapes
  Spread spread;
  std::vector<std::string> doubts;  ///< fields left out because no such value can be: "latency_ms.p50 -3"

  std::string series() const { return setup.backend + " " + setup.precision; }
  /// "torch fp32", for a run with a speedup.
  std::string compared_with() const { return speedup->over.backend + " " + speedup->over.precision; }
};

/// Returns the runs of a file. Bad input names the file and the field if the file has another form.
std::vector<SweepRun> read_sweep_file(const std::filesystem::path& path);

}  // namespace hone::report
