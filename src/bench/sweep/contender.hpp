// One configuration during the measurement: its worker process and the run that it fills. A failure of the
// worker becomes the run's failure and ends only this contender.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/results/run.hpp"
#include "bench/sweep/accuracy.hpp"
#include "bench/sweep/gpu_monitor.hpp"
#include "bench/sweep/peers.hpp"
#include "bench/worker/inputs.hpp"
#include "bench/worker/worker_client.hpp"

namespace hone::bench {

struct MeasureOptions {
  double warmup_seconds = 0.2;  ///< at least this much warm-up
  double duration_seconds = 3;  ///< measured time of one configuration
  int64_t iterations = 10;      ///< at least this many samples, within kOvertime times the duration
  bool exact = false;           ///< exactly `iterations` samples, however long they take
  int rounds = 10;
  bool layers = false;           ///< also times the layers, in separate runs after the measured ones
  double timeout_seconds = 300;  ///< longest wait for an answer of a worker
  double percentile = 0.5;       ///< highest percentile that the verdict must support
  /// The setup that all configurations share; each sets its own model, backend, precision and batch.
  Setup setup;
  /// In the form of backend::LoadOptions.
  std::map<std::string, std::string> settings = {};

  static constexpr double kOvertime = 4;
  /// Limit on samples: more give no new information, and it bounds the size of files and answers.
  static constexpr int64_t kMostSamples = 2'000'000;
};

/// State that the contenders of one model share.
struct ModelUnderTest {
  const ModelInfo& model;
  /// Inputs; the batches of the contenders must be reserved.
  InputPool& inputs;
  /// The model as an ONNX file for external workers; empty if there are none.
  std::string onnx;
  const ReferenceOutputs& reference;
  /// Null on the CPU.
  GpuMonitor* gpu = nullptr;
  /// All batches at which it is measured.
  std::vector<int64_t> batches = {};
};

/// Sets the verdict of a run from its samples and from the observed state of the machine.
void judge_run(Run* run, double percentile);

class Contender {
 public:
  /// The setup in `run` defines what is measured, and how.
  Contender(Run* run, const MeasureOptions& options, const ModelUnderTest& tested)
      : run_(*run), options_(options), tested_(tested) {}

  /// Starts the worker, loads the model, measures accuracy, and warms up. `folder` is for its files.
  /// `on_progress` may be called while the model is loaded.
  void prepare(const Command& command, const std::filesystem::path& folder, const system::StopFlag* stop,
               const WorkerClient::OnProgress& on_progress = {});
  /// Measures one round: one run that is not counted, then a block. `busy` lists processes whose load is part
  /// of the setup.
  void measure_round(std::span<const pid_t> busy);
  /// Reads the memory figures for one run at a time, after the last round. `alone` means that no other worker
  /// existed meanwhile, so that all device memory that disappeared belongs to this one.
  void read_memory(bool alone);
  /// Measures one round of figures besides the latency: the parts of a run, and overlapping runs.
  void measure_extras();
  /// Times the layers in separate runs, if requested.
  void measure_layers();
  /// Ends the worker and sets the verdict.
  void finish();

  bool alive() const { return worker_ != nullptr; }
  /// True if there are enough samples or the time is over.
  bool done() const;
  const Run& run() const { return run_; }
  /// Duration of one run at the end of the warm-up; 0 before that.
  double run_seconds() const { return run_seconds_; }

 private:
  void load(const Command& command, const std::filesystem::path& folder, const system::StopFlag* stop,
            const WorkerClient::OnProgress& on_progress);
  void compare_outputs(const std::filesystem::path& folder);
  void warm_up();
  void watch_growth();
  /// Releases the worker, which has ended or is about to end.
  void drop_worker();
  /// Runs `action`; an Error becomes the run's failure.
  void guarded(const std::function<void()>& action);

  Run& run_;
  const MeasureOptions& options_;
  const ModelUnderTest& tested_;
  std::unique_ptr<WorkerClient> worker_;
  WorkerLoaded loaded_;
  base::Clock::time_point first_round_;
  double run_seconds_ = 0;
};

}  // namespace hone::bench
