// The parent's side of one worker: typed requests over the protocol. Every failure of a worker (an error
// answer, a crash, a hang, an invalid answer) becomes one Error with one sentence.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/worker/protocol.hpp"
#include "bench/worker/traced_runs.hpp"
#include "system/process.hpp"

namespace hone::bench {

struct WorkerHello {
  std::string backend;
  std::string version;
};

struct WorkerLoaded {
  std::vector<std::string> notes;
  double load_ms = 0;
  /// Its optional measurements; see protocol.hpp.
  std::vector<std::string> features;
  /// The bus id of the GPU that it computes on; empty if it does not report one.
  std::string bus_id;
  /// The predicted time of a run, milliseconds; 0 if there is no prediction.
  double predicted_ms = 0;
  /// The version of the system on the device; empty if it adds nothing to the version reported first.
  std::string version;
  /// True if it timed candidates; the next worker need not do that again.
  bool tuned = false;
  /// The share of its multiply-adds that are computed with integers.
  std::optional<double> int8_share = {};

  bool has(std::string_view feature) const;
};

class WorkerClient {
 public:
  /// Starts the command. `timeout_s` limits the wait for every answer; `stop` is as in Process.
  WorkerClient(const std::vector<std::string>& command, const std::filesystem::path& error_file,
               double timeout_s, const system::StopFlag* stop);

  WorkerHello hello(const std::string& backend);
  /// Called during loading.
  using OnProgress = std::function<void(const base::Progress&)>;
  WorkerLoaded load(const LoadRequest& request, const OnProgress& on_progress = {});
  enum class Purpose { kWarmup, kSample };
  /// Runs at least once, and until `runs` are done or `seconds` have passed.
  Block run(Purpose purpose, int64_t runs, double seconds);
  /// Measures the parts of runs for `seconds`, at least one run.
  PhaseBlock phases(double seconds);
  /// Submits overlapping runs for `seconds`, at least one.
  PipelineBlock pipeline(double seconds);
  /// Records `runs` runs with the times of all announced ranges and of the device's work that the backend
  /// reports.
  TracedRuns trace(int64_t runs, const TraceOptions& options);
  /// Times the layers in `runs` runs with the system's own profiler.
  backend::LayerProfile layers(int runs);
  /// Runs each set of inputs once and returns the outputs, which the worker writes into `folder`.
  std::vector<std::vector<OutputFile>> accuracy(std::span<const size_t> sets,
                                                const std::filesystem::path& folder);
  backend::MemoryUse memory();
  /// Asks the worker to end, and kills it if it does not.
  void quit();

  pid_t pid() const { return process_.pid(); }

 private:
  Json ask(const char* type, const Json& request, const OnProgress& on_progress = {});
  /// Sends a request and returns the result of `read` for the answer. Errors name the worker.
  template <class Read>
  auto ask_for(const char* type, const Json& request, const Read& read, const OnProgress& on_progress = {});
  [[noreturn]] void fail_ended(const char* type);

  system::Process process_;
  double timeout_s_;
  int64_t next_id_ = 1;
};

}  // namespace hone::bench
