// The parent's side of one worker: typed requests over the protocol. Every way in which a worker can fail
// (an error answer, a crash, a hang, nonsense) is one Error with one sentence.
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
  /// Its measurements beyond latencies; see protocol.hpp.
  std::vector<std::string> features;
  /// The bus id of the GPU it computes on; empty when it does not say.
  std::string bus_id;
  /// The predicted time of a run, milliseconds; 0 where nobody predicted.
  double predicted_ms = 0;
  /// The version of the system on the device; empty when it does not say more than at first.
  std::string version;
  /// True if it timed candidates to choose among, which the next worker need not do.
  bool tuned = false;
  /// The share of its multiply-adds that runs on integers.
  std::optional<double> int8_share = {};

  bool has(std::string_view feature) const;
};

class WorkerClient {
 public:
  /// Starts the command; `timeout_s` bounds the wait for every answer; `stop` as of a Process.
  WorkerClient(const std::vector<std::string>& command, const std::filesystem::path& error_file,
               double timeout_s, const system::StopFlag* stop);

  WorkerHello hello(const std::string& backend);
  /// `on_progress` may be called while it is loaded.
  using OnProgress = std::function<void(const base::Progress&)>;
  WorkerLoaded load(const LoadRequest& request, const OnProgress& on_progress = {});
  enum class Purpose { kWarmup, kSample };
  /// At least one run, then on until `runs` are done or `seconds` have passed.
  Block run(Purpose purpose, int64_t runs, double seconds);
  /// The parts of runs, for `seconds` and at least one run.
  PhaseBlock phases(double seconds);
  /// Overlapping runs handed over for `seconds`, at least one.
  PipelineBlock pipeline(double seconds);
  /// `runs` runs with the times of all that the model announced and the backend reports.
  TracedRuns trace(int64_t runs, const TraceOptions& options);
  /// The layers of `runs` runs, as the system's own profiler times them.
  backend::LayerProfile layers(int runs);
  /// Runs each set of inputs once and returns the outputs, which the worker writes into `folder`.
  std::vector<std::vector<OutputFile>> accuracy(std::span<const size_t> sets,
                                                const std::filesystem::path& folder);
  backend::MemoryUse memory();
  /// Asks it to end; it is killed when it does not.
  void quit();

  pid_t pid() const { return process_.pid(); }

 private:
  Json ask(const char* type, const Json& request, const OnProgress& on_progress = {});
  /// Sends a request and returns the result of `read` on the answer; an Error of its own says whose answer it
  /// was.
  template <class Read>
  auto ask_for(const char* type, const Json& request, const Read& read, const OnProgress& on_progress = {});
  [[noreturn]] void fail_ended(const char* type);

  system::Process process_;
  double timeout_s_;
  int64_t next_id_ = 1;
};

}  // namespace hone::bench
