// One run: the samples of one configuration, with everything that explains them. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bootstrap.hpp"
#include "bench/monitor.hpp"
#include "bench/verdict.hpp"

namespace hone::bench {

struct Configuration {
  std::string model;  ///< as the user named it
  std::string backend;
  std::string precision;
  int64_t batch = 1;

  bool operator==(const Configuration&) const = default;
  /// "resnet50 torch fp32 batch 8".
  std::string text() const {
    return model + " " + backend + " " + precision + " batch " + std::to_string(batch);
  }
};

/// Bytes.
struct RunMemory {
  int64_t peak = 0;      ///< largest resident memory of the worker
  int64_t baseline = 0;  ///< resident memory before the model was loaded
  int64_t inputs = 0;    ///< part of the peak: the input sets the benchmark keeps
  int64_t weights = 0;
  int64_t activations = 0;
};

/// Error against the fp32 reference; absent figures carry the reason.
struct Accuracy {
  std::optional<double> relative_l2;
  std::optional<double> max_abs;
  std::optional<double> top1_agreement;
  int64_t samples = 0;
  bool finite = true;
  std::string reason;
};

/// How fast a run is beside the comparison run of the same model and batch: above 1 is faster.
struct Speedup {
  std::string backend;
  std::string precision;
  base::Ratio ratio;
  /// Both ran in the same rounds.
  bool interleaved = false;
};

struct Run {
  Configuration configuration;
  /// Runs with the same number took turns in the same rounds.
  int session = 0;
  std::string backend_version;
  int threads = 1;
  std::string device = "cpu";
  bool transfers = false;  ///< latencies include copies to the device and back
  base::Rounds rounds;     ///< latencies in milliseconds
  std::vector<double> block_wall_ms;
  double load_ms = 0;
  size_t warmup_runs = 0;
  double warmup_seconds = 0;
  bool warm = false;
  RunMemory memory;
  Accuracy accuracy;
  Interference interference;
  std::optional<Speedup> speedup;
  std::vector<std::string> notes;
  Verdict verdict;
  std::optional<std::string> failure;

  bool measured() const { return !failure && !rounds.empty(); }
  int64_t sample_count() const;
  double measured_seconds() const;
  /// Samples of the model per second in back-to-back runs, one in flight: batch * runs / wall time.
  double throughput() const;
};

}  // namespace hone::bench
