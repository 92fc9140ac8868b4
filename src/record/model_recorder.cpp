// See model_recorder.hpp.
#include "record/model_recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <set>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "bench/worker/inputs.hpp"
#include "bench/worker/protocol.hpp"
#include "bench/worker/worker_client.hpp"
#include "record/cpu_roof.hpp"
#include "record/gpu_log.hpp"
#include "system/scratch.hpp"
#include "trace/collect/device_events.hpp"
#include "trace/collect/injection.hpp"
#include "trace/collect/metric_values.hpp"
#include "trace/cut.hpp"
#include "trace/recording_cost.hpp"

namespace hone::record {
namespace {

constexpr double kTimeoutSeconds = 600;
constexpr double kNoLimit = 1e9;
/// The number of runs for measuring the cost of recording, and of warm-up runs before them.
constexpr int64_t kTimedRuns = 50;
constexpr int64_t kFirstRuns = 10;
constexpr double kTimedSeconds = 2;

Json rivals_json(const std::vector<backend::Rival>& rivals) {
  Json json = Json::array();
  for (const backend::Rival& rival : rivals) json.push_back(bench::to_json(rival));
  return json;
}

class Session {
 public:
  Session(const bench::ModelInfo& model, const bench::Peers& peers, const ModelRecordOptions& options)
      : model_(model),
        peers_(peers),
        options_(options),
        inputs_(model, options.setup.batch, scratch_.make_folder("inputs")),
        observe_(options.observe) {}

  ModelRecording record() {
    ModelRecording recording;
    auto worker = start(peers_.command(options_.setup.backend), "worker");
    recording.self_timed = times_device_ && !options_.cupti && options_.counter_rate == 0;
    observe_.device = recording.self_timed;
    const bool injects = !options_.setup.on_cpu() && !recording.self_timed;
    const std::filesystem::path folder = scratch_.make_folder("recorded");
    if (injects) {
      recording.plain = latencies(*worker);
      worker->quit();
      worker = start(
          trace::injected_command(
              peers_.command(options_.setup.backend), folder,
              {.driver_api = options_.driver_api, .counter_rate = options_.counter_rate, .capture = {}}),
          "recorded-worker");
    } else {
      compare_in_turns(*worker, recording);
    }
    std::optional<GpuLog> gpu_log;
    if (!options_.setup.on_cpu()) gpu_log.emplace();
    std::vector<bench::TracedRuns> cycles;
    for (int64_t i = 0; i < options_.schedule.repeat; ++i) cycles.push_back(run_cycle(*worker));
    if (injects)
      recording.recorded = base::summarize(
          recorded_latencies(*worker, static_cast<int64_t>(1e3 * kTimedSeconds / recording.plain.p50)));
    worker->quit();
    if (injects) recording.trace = trace::read_injected(folder);
    for (size_t i = 0; i < cycles.size(); ++i)
      trace::add_device_record(recording.trace, cycles[i].device, cycles[i].process, static_cast<int64_t>(i));
    if (gpu_log) gpu_log->add_to(recording.trace);
    keep(recording.trace, cycles);
    describe(recording);
    return recording;
  }

  /// Measures one run after the model was loaded and tuned. A backend that replays a CUDA graph launches its
  /// kernels individually once, before it captures them.
  ModelRecording measure() {
    const std::filesystem::path folder = scratch_.make_folder("recorded");
    const std::filesystem::path marker = scratch_.folder() / "measure";
    auto worker =
        start(trace::injected_command(peers_.command(options_.setup.backend), folder,
                                      {.metrics = options_.metrics, .metrics_while = marker, .capture = {}}),
              "measured-worker");
    base::write_file_atomic(marker, std::string_view());
    const bench::TracedRuns run = worker->trace(1, trace_options());
    std::filesystem::remove(marker);
    worker->quit();
    ModelRecording recording;
    recording.trace = trace::read_injected(folder);
    trace::finish_metrics(recording.trace, options_.metrics);
    keep(recording.trace, {run});
    describe(recording);
    return recording;
  }

 private:
  std::unique_ptr<bench::WorkerClient> start(const bench::Command& command, const std::string& name) {
    tell("loading");
    auto worker = std::make_unique<bench::WorkerClient>(command, scratch_.make_folder(name) / "stderr.txt",
                                                        kTimeoutSeconds, nullptr);
    version_ = worker->hello(options_.setup.backend).version;
    bench::LoadRequest request;
    request.setup = options_.setup;
    request.setup.model = model_.spec;
    request.setup.transfers = true;
    request.bind = model_.bind;
    request.context = model_.context;
    request.inputs = inputs_.at_batch(options_.setup.batch, bench::count_sets(model_, options_.setup.batch));
    const bench::WorkerLoaded loaded =
        worker->load(request, [this](const base::Progress& progress) { tell("loading: " + progress.doing); });
    if (!loaded.version.empty()) version_ = loaded.version;
    if (!loaded.has(bench::kTraceFeature))
      fail_environment("the worker of {} cannot be recorded", options_.setup.backend);
    times_device_ = loaded.has(bench::kDeviceTimesFeature);
    return worker;
  }

  void tell(const std::string& doing) const {
    if (options_.progress)
      options_.progress({base::seconds_since(begin_), std::numeric_limits<double>::infinity(),
                         options_.setup.text() + ": " + doing});
  }

  static base::Summary latencies(bench::WorkerClient& worker) {
    worker.run(bench::WorkerClient::Purpose::kWarmup, kFirstRuns, kTimedSeconds);
    return base::summarize(
        worker.run(bench::WorkerClient::Purpose::kSample, kTimedRuns, kTimedSeconds).latencies_ms);
  }

  /// Latencies of runs whose recording is discarded: at most `most`, fewer if time runs out.
  std::vector<double> recorded_latencies(bench::WorkerClient& worker, int64_t most) const {
    std::vector<double> latencies;
    for (const bench::TracedRuns::Run& run :
         worker.trace(std::clamp<int64_t>(most, 1, kTimedRuns), trace_options()).runs)
      latencies.push_back(1e-6 * static_cast<double>(run.end_ns - run.start_ns));
    return latencies;
  }

  /// Compares in one process, so that the placement of memory and any drift are the same with and without
  /// recording.
  void compare_in_turns(bench::WorkerClient& worker, ModelRecording& recording) const {
    constexpr int kTurns = 5;
    std::vector<double> plain;
    std::vector<double> recorded;
    for (int turn = 0; turn < kTurns; ++turn) {
      tell(fmt::format("runs with and without recording, turn {} of {}", turn + 1, kTurns));
      worker.run(bench::WorkerClient::Purpose::kWarmup, kFirstRuns, kTimedSeconds / kTurns);
      const bench::Block block =
          worker.run(bench::WorkerClient::Purpose::kSample, kTimedRuns, kTimedSeconds / kTurns);
      plain.insert(plain.end(), block.latencies_ms.begin(), block.latencies_ms.end());
      const auto runs = static_cast<int64_t>(block.latencies_ms.size());
      std::vector<double> latencies = recorded_latencies(worker, runs + 1);
      // The first run of a recording is left out, because it still contains effects of starting the
      // recording.
      recorded.insert(recorded.end(), latencies.begin() + (latencies.size() > 1 ? 1 : 0), latencies.end());
    }
    recording.plain = base::summarize(plain);
    recording.recorded = base::summarize(recorded);
  }

  bench::TraceOptions trace_options() const { return {observe_, options_.thread_counters}; }

  bench::TracedRuns run_cycle(bench::WorkerClient& worker) const {
    tell("recording");
    const trace::Schedule& schedule = options_.schedule;
    if (const int64_t before = schedule.wait + schedule.warmup; before > 0)
      worker.run(bench::WorkerClient::Purpose::kWarmup, before, kNoLimit);
    return worker.trace(schedule.active, trace_options());
  }

  /// Keeps the iterations and their ranges; of everything else, only events within the iterations.
  void keep(trace::Trace& trace, const std::vector<bench::TracedRuns>& cycles) const {
    std::vector<trace::Span> windows;
    const std::vector<int64_t> first = trace::first_active(options_.schedule);
    for (size_t cycle = 0; cycle < cycles.size(); ++cycle) {
      const bench::TracedRuns& traced = cycles[cycle];
      windows.push_back({traced.runs.front().start_ns, traced.runs.back().end_ns});
      for (size_t i = 0; i < traced.runs.size(); ++i) {
        const std::string name = fmt::format("ProfilerStep#{}", first[cycle] + static_cast<int64_t>(i));
        trace.host_events.push_back({traced.runs[i].start_ns, traced.runs[i].end_ns, trace::HostKind::kStep,
                                     trace.strings.intern(name),
                                     trace.thread_index(traced.process, traced.thread)});
      }
      for (const bench::TracedRuns::Range& range : traced.ranges)
        trace.host_events.push_back({range.start_ns, range.end_ns, trace::HostKind::kEngineStep,
                                     trace.strings.intern(traced.names[range.name]),
                                     trace.thread_index(traced.process, range.thread)});
      add_operators(trace, traced);
      add_usages(trace, traced);
    }
    add_memory(trace, cycles);
    trace::cut(trace, windows);
    add_steps(trace, cycles.front().steps);
    trace::normalize(trace);
  }

  static void add_operators(trace::Trace& trace, const bench::TracedRuns& traced) {
    const auto text = [&](int64_t index) {
      return index < 0 ? trace::StringId{} : trace.strings.intern(traced.names[static_cast<size_t>(index)]);
    };
    for (const bench::TracedRuns::Operator& call : traced.operators) {
      trace::HostEvent event{call.start_ns, call.end_ns, trace::HostKind::kOperator, text(call.name),
                             trace.thread_index(traced.process, call.thread)};
      const trace::OperatorDetail detail{.input_shapes = text(call.shapes),
                                         .input_types = text(call.types),
                                         .sequence = std::max(call.sequence, trace::kNone)};
      if (detail.input_shapes != 0 || detail.input_types != 0 || detail.sequence != trace::kNone) {
        event.detail = static_cast<int32_t>(trace.operators.size());
        trace.operators.push_back(detail);
      }
      trace.host_events.push_back(event);
    }
  }

  static void add_usages(trace::Trace& trace, const bench::TracedRuns& traced) {
    std::vector<trace::StringId> counters;
    for (const std::string& name : traced.counters) counters.push_back(trace.strings.intern(name));
    for (const bench::TracedRuns::Usage& usage : traced.usages) {
      const bench::TracedRuns::Range& range = traced.ranges[usage.range];
      for (size_t i = 0; i < counters.size(); ++i)
        trace.thread_usages.push_back({range.start_ns, range.end_ns,
                                       trace.thread_index(traced.process, usage.thread), counters[i],
                                       usage.values[i]});
    }
    if (!traced.counters_missing.empty())
      trace.doubt(trace::Severity::kNote, "threads",
                  "no hardware counters of the CPU: " + traced.counters_missing, 0);
  }

  void add_memory(trace::Trace& trace, const std::vector<bench::TracedRuns>& cycles) const {
    std::set<int32_t> told;
    std::vector<trace::Allocation> allocations;
    for (const bench::TracedRuns& traced : cycles) {
      for (const bench::TracedRuns::Allocation& row : traced.allocations) {
        const auto device = static_cast<int32_t>(row.device);
        told.insert(device);
        allocations.push_back({row.time_ns, device, trace.thread_index(traced.process, row.thread),
                               row.address, row.bytes, row.total_allocated, row.total_reserved,
                               trace.strings.intern(options_.setup.backend)});
      }
    }
    // A caching allocator subdivides memory that it got from CUDA, at the same addresses.
    std::erase_if(trace.allocations, [&](const trace::Allocation& row) { return told.contains(row.device); });
    trace.allocations.insert(trace.allocations.end(), allocations.begin(), allocations.end());
    if (options_.observe.memory && allocations.empty())
      trace.doubt(trace::Severity::kNote, "memory",
                  fmt::format("the backend {} does not report its allocations", options_.setup.backend), 0);
  }

  static void add_steps(trace::Trace& trace, const std::vector<backend::StepInfo>& steps) {
    const auto id = [&](const Json& json) { return trace.strings.intern(json.dump()); };
    const bool has_edges = std::any_of(
        steps.begin(), steps.end(), [](const backend::StepInfo& step) { return !step.predecessors.empty(); });
    for (const backend::StepInfo& step : steps) {
      trace.model_steps.push_back({trace.strings.intern(step.name), trace.strings.intern(step.kind),
                                   trace.strings.intern(step.tactic), id(step.sources), id(step.inputs),
                                   id(step.outputs), step.flops, step.bytes,
                                   has_edges ? id(step.predecessors) : trace::StringId{},
                                   step.rivals.empty() ? trace::StringId{} : id(rivals_json(step.rivals))});
    }
  }

  void describe(ModelRecording& recording) const {
    auto& metadata = recording.trace.metadata;
    metadata["model"] = options_.setup.model;
    metadata["backend"] = options_.setup.backend;
    metadata["backend_version"] = version_;
    metadata["precision"] = options_.setup.precision;
    metadata["device"] = options_.setup.device;
    metadata["batch"] = std::to_string(options_.setup.batch);
    metadata["threads"] = std::to_string(options_.setup.threads);
    if (options_.metrics.empty()) trace::describe_cost(recording.trace, recording.plain, recording.recorded);
    if (options_.setup.on_cpu()) trace::describe_roof(recording.trace, cpu_roof(options_.setup.threads));
    metadata["recorded_at"] = base::utc_date();
    if (recording.self_timed)
      metadata["utc_epoch_ns"] = std::to_string(base::utc_ns() - base::monotonic_ns());
  }

  const bench::ModelInfo& model_;
  const bench::Peers& peers_;
  const ModelRecordOptions& options_;
  system::Scratch scratch_;
  bench::InputPool inputs_;
  base::Clock::time_point begin_ = base::Clock::now();
  std::string version_;
  backend::ObserveOptions observe_;
  bool times_device_ = false;
};

}  // namespace

ModelRecording record_model(const bench::ModelInfo& model, const bench::Peers& peers,
                            const ModelRecordOptions& options) {
  trace::check_schedule(options.schedule);
  Session session(model, peers, options);
  return options.metrics.empty() ? session.record() : session.measure();
}

}  // namespace hone::record
