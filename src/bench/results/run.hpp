// One run: the samples of one configuration, and all data that explain them. Plain data.
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
  int64_t inputs = 0;    ///< part of the peak: the input sets that the benchmark keeps
  int64_t weights = 0;
  int64_t activations = 0;
  int64_t engine_file = 0;
  /// Memory use with one run at a time.
  backend::DeviceMemoryUse device;
  /// device.allocated including all streams of the pipelined runs.
  int64_t streams_allocated = 0;
};

/// Bytes in use after the first and after the last round, to detect memory that runs do not free.
struct MemoryGrowth {
  int64_t runs = 0;  ///< number of runs in between
  int64_t resident_first = 0;
  int64_t resident_last = 0;
  /// Bytes in use on the device, as the driver counts them.
  int64_t device_first = 0;
  int64_t device_last = 0;
};

/// Error relative to the reference; absent figures have a reason.
struct Accuracy {
  /// The precision to which the reference rounds, because it computes a model in the model's own types.
  tensor::Precision reference = tensor::Precision::kFp32;
  std::optional<double> relative_l2;
  std::optional<double> max_abs;
  std::optional<double> top1_agreement;
  int64_t samples = 0;
  bool finite = true;
  std::string reason;
  std::string impossible;  ///< why the outputs cannot be those of the model; it is part of the verdict
};

/// The speed of a run relative to the comparison run with the same model and batch; above 1 is faster.
struct Speedup {
  std::string backend;
  std::string precision;
  base::Ratio ratio;
  /// True if both ran in the same rounds.
  bool interleaved = false;
};

struct Run {
  Setup setup;
  /// Runs with the same number took turns in the same rounds. Older files lack it.
  std::optional<int> session;
  std::string backend_version;
  base::Rounds rounds;  ///< latencies in milliseconds
  std::vector<double> block_wall_ms;
  /// Parts of runs and overlapping runs, measured in separate rounds; empty if the backend does not support
  /// them.
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
  /// Predicted latency in milliseconds, for a partition that was made for this setup.
  std::optional<double> predicted_ms;
  std::vector<LayerFigure> layers;  ///< if they were requested and the backend reports them
  /// The share of multiply-adds that are computed with integers; absent if nothing is quantized or the
  /// backend does not report it.
  std::optional<double> int8_share;
  std::vector<std::string> notes;
  Verdict verdict;
  std::optional<std::string> failure;
  bool failed_by_bug =
      false;  ///< whether the backend failed because of a bug, according to its worker; not stored in files

  bool measured() const { return !failure && !rounds.empty(); }
  /// Remarks for readers about the measurement, in addition to its notes.
  std::vector<std::string> remarks() const;
  int64_t sample_count() const;
  double measured_seconds() const;
  /// Samples of the model per second for consecutive runs, one at a time: batch * runs / wall time.
  double throughput() const;
  /// Samples of the model per second for overlapping runs; 0 if there were none.
  double pipelined_throughput() const;
};

}  // namespace hone::bench
