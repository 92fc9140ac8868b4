// A sweep: measures every configuration of models, batches, precisions and backends. Configurations with the
// same model and batch form a group, whose members take turns in rounds, so that drift of the machine affects
// all of them equally.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "bench/results/results.hpp"
#include "bench/sweep/contender.hpp"
#include "bench/worker/decoding.hpp"
#include "bench/worker/given_inputs.hpp"

namespace hone::bench {

struct SweepOptions {
  ModelLoader load_model;
  std::vector<std::string> models;
  std::vector<std::string> backends;
  std::vector<std::string> precisions;
  std::vector<int64_t> batches;  ///< empty: the default batches, or the batch that a model fixes
  std::vector<int64_t> usual_batches = {1, 8};
  std::map<std::string, tensor::Shape> shapes;
  Decoding decoding;
  GivenInputs given;
  /// Percentiles to show for each run, in percent.
  std::vector<double> percentiles = {99};
  std::string compare_to;  ///< backend that speedups refer to
  MeasureOptions measure;
  std::vector<std::string> command_line;
};

/// Receives the events of a running sweep, from the thread that runs it.
struct SweepEvents {
  /// Called when the models are known, before the first measurement, with all planned runs (without samples)
  /// and an estimate of the time in seconds. An exception thrown from here ends the sweep.
  std::function<void(const Sweep&, double)> on_plan;
  std::function<void(const base::Progress&)> on_progress;
  /// Called after every round and every failure, with the sweep so far.
  std::function<void(const Sweep&)> on_change;
  /// Called with the runs of a finished group, including speedup and verdict.
  std::function<void(std::span<const Run>)> on_group;
};

/// Runs the whole sweep. If the stop flag interrupts it, it returns the measurements so far with `complete`
/// false. Errors of one configuration become failed runs; usage errors (unknown model or backend) are thrown.
Sweep run_sweep(const SweepOptions& options, const Peers& peers, const SweepEvents& events,
                const system::StopFlag* stop);

/// Sets the speedup of each run relative to the run of `compare_to` in the first precision that was measured.
void compare_runs(std::span<Run> group, const std::string& compare_to);

}  // namespace hone::bench
