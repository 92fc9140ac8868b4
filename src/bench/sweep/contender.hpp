// One configuration while it is being measured: its worker process and the run that it fills. A failure of
// the worker becomes the run's failure and ends only this contender.
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
  bool exact = false;           ///< no more than `iterations` samples, however long they take
  int rounds = 10;
  bool layers = false;           ///< time the layers, too, in runs after the measured ones
  double timeout_seconds = 300;  ///< longest wait for one answer of a worker
  double percentile = 0.5;       ///< highest percentile that the verdict has to support
  /// The setup of every configuration; each has its own model, backend, precision and batch.
  Setup setup;
  /// As backend::LoadOptions has them.
  std::map<std::string, std::string> settings = {};

  static constexpr double kOvertime = 4;
  /// More samples show nothing new; files and answers of workers stay of a size to handle.
  static constexpr int64_t kMostSamples = 2'000'000;
};

/// State that the contenders of one model share.
struct ModelUnderTest {
  const ModelInfo& model;
  /// Inputs with the batch of the contenders reserved.
  InputPool& inputs;
  /// The model as an ONNX file for external workers; empty when there are none.
  std::string onnx;
  const ReferenceOutputs& reference;
  /// Null on the CPU.
  GpuMonitor* gpu = nullptr;
  /// All that it is measured at.
  std::vector<int64_t> batches = {};
};

/// Sets the verdict of a run from its samples and what was seen of the machine.
void judge_run(Run* run, double percentile);

class Contender {
 public:
  /// The run says already what is measured and how.
  Contender(Run* run, const MeasureOptions& options, const ModelUnderTest& tested)
      : run_(*run), options_(options), tested_(tested) {}

  /// Starts the worker, loads the model, measures accuracy, warms up. `folder` is for its files.
  /// `on_progress` may be called while the model is loaded.
  void prepare(const Command& command, const std::filesystem::path& folder, const system::StopFlag* stop,
               const WorkerClient::OnProgress& on_progress = {});
  /// Measures one round: one run that is not counted, then a block. `busy`: processes whose load is part of
  /// the setup.
  void measure_round(std::span<const pid_t> busy);
  /// Reads the memory figures of one run at a time, after the last round. `alone`: no other worker was there
  /// meanwhile, so that the device's loss of free memory is due to this one.
  void read_memory(bool alone);
  /// Measures a round of figures besides the latency: the parts of a run, overlapping runs.
  void measure_extras();
  /// Times the layers in runs of their own, where they are asked for.
  void measure_layers();
  /// Ends the worker and judges the run.
  void finish();

  bool alive() const { return worker_ != nullptr; }
  /// Enough samples, or out of time.
  bool done() const;
  const Run& run() const { return run_; }
  /// Duration of one run, as the warm-up saw it last; 0 before.
  double run_seconds() const { return run_seconds_; }

 private:
  void load(const Command& command, const std::filesystem::path& folder, const system::StopFlag* stop,
            const WorkerClient::OnProgress& on_progress);
  void compare_outputs(const std::filesystem::path& folder);
  void warm_up();
  void watch_growth();
  /// Lets go of the worker, which has ended or ends now.
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
