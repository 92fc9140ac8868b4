// Records a model on a backend: its iterations, the steps that it announces and, on a GPU, what the GPU did.
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
  /// Runs are timed with transfers, whatever it says.
  bench::Setup setup;
  bool driver_api = true;
  /// Through CUPTI also where a backend can time what the GPU does itself, which costs less.
  bool cupti = false;
  /// How often a second hardware counters are sampled; 0: not at all.
  double counter_rate = 0;
  /// Observations of operators and memory that a backend is asked for; one that cannot make them leaves them
  /// out.
  backend::ObserveOptions observe;
  /// Record each CPU thread's use in every range that the backend announces.
  bool thread_counters = false;
  /// Metrics to measure for each kernel of one run, instead of recording; nothing when it is empty.
  std::vector<trace::WantedMetric> metrics;
  trace::Schedule schedule;
  /// Called now and then; empty: not called.
  std::function<void(const base::Progress&)> progress = {};
};

struct ModelRecording {
  /// The active iterations, as HostKind::kStep "ProfilerStep#k".
  trace::Trace trace;
  /// True if the backend timed the GPU itself.
  bool self_timed = false;
  /// Latencies of iterations without and with recording, milliseconds. None where metrics were measured.
  base::Summary plain;
  base::Summary recorded;
};

/// The model runs in a worker of its own, first as it is, then recorded; where the collector must be in the
/// process, in another one. Environment error when a worker fails.
ModelRecording record_model(const bench::ModelInfo& model, const bench::Peers& peers,
                            const ModelRecordOptions& options);

}  // namespace hone::record
