// Records a model on a backend: its iterations, its announced steps and, on a GPU, the GPU's work.
#pragma once

#include <functional>
#include <string>

#include "base/progress.hpp"
#include "base/statistics.hpp"
#include "bench/setup.hpp"
#include "bench/sweep/peers.hpp"
#include "bench/worker/model_info.hpp"
#include "bench/worker/traced_runs.hpp"
#include "trace/collect/metrics.hpp"
#include "trace/collect/schedule.hpp"
#include "trace/trace.hpp"

namespace hone::record {

struct ModelRecordOptions {
  /// Runs are always timed with transfers, whatever the setup says.
  bench::Setup setup;
  bool driver_api = true;
  /// Uses CUPTI even if a backend can time the GPU's work itself, which costs less.
  bool cupti = false;
  /// Number of samples of hardware counters per second; 0: none.
  double counter_rate = 0;
  /// Observations of operators and memory to request from the
  /// backend, which ignores those that it does not support.
  backend::ObserveOptions observe;
  /// Records the CPU use of each thread in every announced range.
  bool thread_counters = false;
  /// Metrics to measure for each kernel of one run, instead of recording a timeline; empty: none.
  std::vector<trace::WantedMetric> metrics;
  trace::Schedule schedule;
  /// Called from time to time; empty: not called.
  std::function<void(const base::Progress&)> progress = {};
};

struct ModelRecording {
  /// The active iterations are HostKind::kStep "ProfilerStep#k".
  trace::Trace trace;
  /// True if the backend timed the GPU itself.
  bool self_timed = false;
  /// Latencies of iterations without and with recording, in milliseconds. Empty if metrics were measured.
  base::Summary plain;
  base::Summary recorded;
};

/// Runs the model in a separate worker, first without and then with recording. If the collector must run
/// inside the process, another worker does the recording. Environment error if a worker fails.
ModelRecording record_model(const bench::ModelInfo& model, const bench::Peers& peers,
                            const ModelRecordOptions& options);

}  // namespace hone::record
