// A sweep: every configuration of models, batches, precisions and backends, measured in groups (one model
// at one batch) whose members take turns in rounds, so that drift of the machine hits all alike.
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
  std::vector<int64_t> batches;  ///< empty: the usual ones, or the batch of a model that fixes it
  std::vector<int64_t> usual_batches = {1, 8};
  std::map<std::string, tensor::Shape> shapes;
  Decoding decoding;
  GivenInputs given;
  /// Shown of each run, in percent.
  std::vector<double> percentiles = {99};
  std::string compare_to;  ///< backend that speedups refer to
  MeasureOptions measure;
  std::vector<std::string> command_line;
};

/// Receives the events of a running sweep. Calls come from the thread that runs it.
struct SweepEvents {
  /// Once the models are known, before anything is measured: every run that is to come, without samples, and
  /// an estimate of the seconds. An error thrown from here ends the sweep.
  std::function<void(const Sweep&, double)> on_plan;
  std::function<void(const base::Progress&)> on_progress;
  /// After every round and every failure: the sweep so far.
  std::function<void(const Sweep&)> on_change;
  /// The runs of a finished group, complete with speedup and verdict.
  std::function<void(std::span<const Run>)> on_group;
};

/// Runs all of it. Interrupted by the stop flag, it returns what was measured with `complete` false.
/// Errors of one configuration are failed runs; usage errors (unknown model, backend) are thrown.
Sweep run_sweep(const SweepOptions& options, const Peers& peers, const SweepEvents& events,
                const system::StopFlag* stop);

/// Sets the speedup of each run over the run of `compare_to` in the first precision that has been measured.
void compare_runs(std::span<Run> group, const std::string& compare_to);

}  // namespace hone::bench
