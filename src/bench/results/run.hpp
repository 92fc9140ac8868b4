// One run: the samples of one configuration, with everything that explains them. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bootstrap.hpp"
#include "bench/results/gpu_conditions.hpp"
#include "bench/results/run_record.hpp"
#include "bench/results/verdict.hpp"
#include "bench/setup.hpp"
#include "bench/worker/protocol.hpp"
#include "system/monitor.hpp"

namespace hone::bench {

/// Bytes.
struct RunMemory {
  int64_t peak = 0;      ///< largest resident memory of the worker
  int64_t baseline = 0;  ///< resident memory before the model was loaded
  int64_t inputs = 0;    ///< part of the peak: the input sets the benchmark keeps
  int64_t weights = 0;
  int64_t activations = 0;
  int64_t engine_file = 0;
  /// Use with one run at a time.
  backend::DeviceMemoryUse device;
  /// device.allocated with all streams of the pipelined runs.
  int64_t streams_allocated = 0;
};

/// Bytes held after the first and after the last round, to see what runs do not free.
struct MemoryGrowth {
  int64_t runs = 0;  ///< in between
  int64_t resident_first = 0;
  int64_t resident_last = 0;
  /// Bytes taken on the device, as the driver counts them.
  int64_t device_first = 0;
  int64_t device_last = 0;
};

/// Error against the reference; absent figures carry the reason.
struct Accuracy {
  /// To what the reference rounds, which computes a model in the types that it has.
  tensor::Precision reference = tensor::Precision::kFp32;
  std::optional<double> relative_l2;
  std::optional<double> max_abs;
  std::optional<double> top1_agreement;
  int64_t samples = 0;
  bool finite = true;
  std::string reason;
  std::string impossible;  ///< why they are not the model's at all, which is in the verdict
};

/// The speed of a run relative to the comparison run of the same model and batch: above 1 is faster.
struct Speedup {
  std::string backend;
  std::string precision;
  base::Ratio ratio;
  /// Both ran in the same rounds.
  bool interleaved = false;
};

struct Run {
  Setup setup;
  /// Runs with the same number took turns in the same rounds. Older files do not hold it.
  std::optional<int> session;
  std::string backend_version;
  base::Rounds rounds;  ///< latencies in milliseconds
  std::vector<double> block_wall_ms;
  /// Parts of runs and overlapping runs, from rounds of their own; empty where the backend has none.
  PhaseBlock phases;
  PipelineBlock pipelined;
  GpuConditions gpu;
  MemoryGrowth growth;
  double load_ms = 0;
  size_t warmup_runs = 0;
  double warmup_seconds = 0;
  bool warm = false;
  RunMemory memory;
  Accuracy accuracy;
  system::Interference interference;
  std::optional<Speedup> speedup;
  /// Milliseconds, of a partition that was made for this setup.
  std::optional<double> predicted_ms;
  std::vector<LayerFigure> layers;  ///< where they were asked for and the backend reports them
  /// The share of the multiply-adds that are multiplied as integers; absent where nothing is quantized or the
  /// backend does not report it.
  std::optional<double> int8_share;
  std::vector<std::string> notes;
  Verdict verdict;
  std::optional<std::string> failure;
  bool failed_by_bug = false;  ///< of the backend, as its worker reports or ends; files do not keep it

  bool measured() const { return !failure && !rounds.empty(); }
  /// Remarks for readers on how it was measured, beyond its notes.
  std::vector<std::string> remarks() const;
  int64_t sample_count() const;
  double measured_seconds() const;
  /// Samples of the model per second in back-to-back runs, one in flight: batch * runs / wall time.
  double throughput() const;
  /// Samples of the model per second in overlapping runs; 0 when there were none.
  double pipelined_throughput() const;
};

}  // namespace hone::bench
