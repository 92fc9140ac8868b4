// `hone profile -- COMMAND` records the GPU work of a program, `hone profile MODEL` a model on a backend,
// `hone profile detect ARGS` the stages of a pipeline.
#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "backend/backend.hpp"
#include "backend/partition/partition_backend.hpp"
#include "backend/run_precision.hpp"
#include "base/file.hpp"
#include "bench/results/model_names.hpp"
#include "bench/sweep/peers.hpp"
#include "bench/worker/subject.hpp"
#include "cli/command.hpp"
#include "cli/engine_options.hpp"
#include "cli/folder.hpp"
#include "cli/profile_detect.hpp"
#include "cli/profile_metrics.hpp"
#include "cli/progress_display.hpp"
#include "cli/subject_options.hpp"
#include "device/devices.hpp"
#include "record/model_recorder.hpp"
#include "record/program_recorder.hpp"
#include "system/cpu.hpp"
#include "system/interruption.hpp"
#include "trace/collect/schedule.hpp"
#include "trace/recording_cost.hpp"
#include "trace/store.hpp"

namespace hone::cli {
namespace {

/// Seconds between lines of progress if the output is not a terminal.
constexpr double kPlainLineSeconds = 15;

struct Options {
  std::string model;
  SubjectOptions subject;
  std::vector<std::string> backends = {std::string(backend::kOwnBackend)};
  std::vector<std::string> precisions = {"fp32"};
  std::vector<int64_t> batches = {1};
  std::vector<std::string> shapes;
  bench::Decoding decoding;
  record::ModelRecordOptions record;
  std::string output;
  bool no_driver_api = false;
  bool counters = false;
  double counter_rate = 10'000;
  trace::CaptureOptions capture;

  bool captures_all() const {
    return capture.delay_s == 0 && capture.duration_s == 0 && capture.range.empty() &&
           capture.kernels.empty();
  }
  bool trace_threads = false;
  std::vector<std::string> metrics;
  bool query_metrics = false;
  std::string chip;
  bool json = false;
  /// Options that control how a model runs.
  OptionList of_models;
};

/// The words after "--", which must not be parsed as options of hone.
std::vector<std::string>& profiled_command() {
  static std::vector<std::string> command;
  return command;
}

/// The words after `profile detect`, which are options of another command.
std::optional<std::vector<std::string>>& profiled_pipeline() {
  static std::optional<std::vector<std::string>> words;
  return words;
}

/// Reserves "python3.trace.sqlite", or the first free name of "python3-2.trace.sqlite" and so on.
std::unique_ptr<base::ReservedFile> claim_trace(const std::string& stem) {
  for (int number = 1;; ++number) {
    const std::string name =
        fmt::format("{}{}.trace.sqlite", stem, number == 1 ? "" : fmt::format("-{}", number));
    if (std::filesystem::exists(name)) continue;
    auto file = std::make_unique<base::ReservedFile>(name);
    // If another process took the name in the meantime, the reserved file would be "python3.trace-2.sqlite".
    if (file->path() == name) return file;
  }
}

/// The backend's name as part of a file name; the name of a partition contains a path.
std::string file_part(const std::string& backend) {
  if (!backend::partition::is_partition(backend)) return backend;
  return "partition-" + bench::file_stem(backend.substr(backend::partition::kPrefix.size()));
}

int64_t count(const trace::Trace& trace, trace::DeviceKind kind) {
  return std::count_if(trace.device_events.begin(), trace.device_events.end(),
                       [kind](const trace::DeviceEvent& event) { return event.kind == kind; });
}

int64_t measured_launches(const trace::Trace& trace) {
  std::set<std::pair<int64_t, int64_t>> launches;
  for (const trace::KernelMetric& row : trace.kernel_metrics) launches.insert({row.process, row.launch});
  return static_cast<int64_t>(launches.size());
}

/// Prints to standard error, because standard output belongs to the profiled program.
void print_summary(const trace::Trace& trace, const std::string& output, bool metrics) {
  if (metrics) {
    fmt::print(stderr, "hone: {} values of metrics of {} launches of kernels in {}\n",
               trace.kernel_metrics.size(), measured_launches(trace), output);
  } else if (trace.device_events.empty()) {
    fmt::print(stderr, "hone: {} calls and ranges of the CPU in {}\n", trace.host_events.size(), output);
  } else {
    fmt::print(stderr, "hone: {} kernels, {} copies, {} sets, {} calls and ranges in {}\n",
               count(trace, trace::DeviceKind::kKernel), count(trace, trace::DeviceKind::kCopy),
               count(trace, trace::DeviceKind::kSet), trace.host_events.size(), output);
  }
  for (const trace::Doubt& doubt : trace.doubts)
    fmt::print(stderr, "hone: {}: {}{}\n", doubt.about,
               doubt.count > 0 ? fmt::format("{} ", doubt.count) : "", doubt.text);
}

/// Returns "SIGTERM was passed on, and ", or an empty text if no signal was passed on.
std::string passed_on_text(const record::Recording& recording) {
  const char* name = ::sigabbrev_np(recording.passed_on);
  return name == nullptr ? "" : fmt::format("SIG{} was passed on, and ", name);
}

/// Returns "137 (128 + SIGKILL)": the exit code that a shell reports for a process that a signal ended.
std::string exit_code_text(int code) {
  constexpr int kSignalBase = 128;
  const char* name = code > kSignalBase ? ::sigabbrev_np(code - kSignalBase) : nullptr;
  return name == nullptr ? std::to_string(code) : fmt::format("{} ({} + SIG{})", code, kSignalBase, name);
}

/// Explains why a recording is empty, and what to do next.
std::string nothing_recorded(const Options& options, const record::Recording& recording) {
  if (recording.processes > 0 && !options.captures_all())
    return "nothing was recorded: the program used no GPU while it was captured; leave out --delay, "
           "--duration, --capture-range and --kernels to record all of it";
  if (recording.processes > 0 && !options.metrics.empty())
    return "nothing was measured: the program launched no kernel; leave out --metrics to record what else it "
           "did";
  if (recording.processes > 0)
    return "nothing was recorded: the program initialised CUDA or NVTX and did nothing with them; "
           "--trace-threads records what threads of a CPU program wait for";
  if (options.trace_threads)
    return "nothing was recorded: no process of this command initialised CUDA or NVTX, or waited for a "
           "thread";
  return "nothing was recorded: no process of this command initialised CUDA or NVTX; --trace-threads records "
         "what threads of a CPU program wait for, and hone profile MODEL the steps of a model on the CPU";
}

bool is_empty(const trace::Trace& trace) {
  return trace.host_events.empty() && trace.device_events.empty() && trace.kernel_metrics.empty() &&
         trace.thread_syncs.empty();
}

void profile_command(const Options& options) {
  const std::vector<std::string>& command = profiled_command();
  std::unique_ptr<base::ReservedFile> claimed;
  if (options.output.empty()) claimed = claim_trace(std::filesystem::path(command[0]).filename().string());
  const std::string output = claimed ? claimed->path().string() : options.output;
  // Protects a script that was given to -o by mistake.
  refuse_overwriting(output, command);
  base::check_writable(output);
  const system::Interruptible interruptible;
  record::Recording recording =
      record::record_program(command, {.driver_api = !options.no_driver_api,
                                       .threads_api = options.trace_threads,
                                       .counter_rate = options.counters ? options.counter_rate : 0,
                                       .metrics = trace::want_metrics(options.metrics),
                                       .capture = options.capture});
  const bool empty = is_empty(recording.trace);
  if (recording.processes == 0 && !empty)
    recording.trace.doubt(trace::Severity::kLoss, "collector",
                          "no process of this command initialised CUDA or NVTX", 0);
  if (!empty) {
    trace::write_store(recording.trace, output);
    print_summary(recording.trace, output, !options.metrics.empty());
  } else {
    for (const trace::Doubt& doubt : recording.trace.doubts)
      fmt::print(stderr, "hone: {}: {}\n", doubt.about, doubt.text);
  }
  system::throw_if_interrupted();
  const std::string signal = passed_on_text(recording);
  if (recording.exit_code != 0)
    throw ProgramFailed{
        recording.exit_code,
        fmt::format("{}the program ended with exit code {}; {}", signal, exit_code_text(recording.exit_code),
                    empty ? "nothing was recorded" : "what it did until then is in " + output)};
  if (empty) fail_environment("{}", nothing_recorded(options, recording));
  if (!signal.empty()) fmt::print(stderr, "hone: {}the program ended in order\n", signal);
}

/// Returns the cost of recording in the words of `hone analyze`.
std::string cost_text(const trace::Trace& trace) {
  const std::optional<trace::RecordingCost> cost = trace::RecordingCost::of(trace);
  return cost ? cost->text : "its cost cannot be told";
}

/// Refuses options with which no model can be recorded, before any file is read or created.
void check_recording(const Options& options, const bench::Peers& peers) {
  const record::ModelRecordOptions& record = options.record;
  const bool cpu = record.setup.on_cpu();
  if (!record.metrics.empty() && cpu) fail_usage("--metrics is of kernels of a GPU: --device cuda");
  if (record.cupti && cpu) fail_usage("--cupti is of a GPU: --device cuda");
  trace::check_schedule(record.schedule);
  for (const std::string& precision : options.precisions) backend::parse_run_precision(precision);
  for (const std::string& backend : options.backends) {
    peers.command(backend);
    // A peer decides by itself what it runs on.
    if (!peers.is_external(backend)) device::require_device(record.setup.device);
  }
}

bench::ModelInfo described_model(const Options& options) {
  const std::map<std::string, tensor::Shape> shapes = parse_named_shapes(options.shapes);
  const importer::Model loaded = bench::load_subject(options.model, options.subject.parameters);
  refuse_batch_size(options.subject, loaded);
  const bench::GivenInputs given = given_inputs(options.subject, loaded);
  bench::ModelInfo model = speaking_of(options.model, [&] {
    const auto all = bench::with_given_shapes(shapes, given);
    return options.decoding.bind.empty()
               ? bench::describe_subject(loaded, options.model, all)
               : bench::describe_decoder(loaded, options.model, all, options.decoding);
  });
  bench::give_values(given, &model);
  bench::check_shapes(shapes, {&model, 1}, options.batches);
  return model;
}

void profile_model(Options options) {
  record::ModelRecordOptions& record = options.record;
  record.setup.model = options.model;
  record.driver_api = !options.no_driver_api;
  record.metrics = trace::want_metrics(options.metrics);
  const bool measures = !record.metrics.empty();
  if (options.counters && !record.setup.on_cpu()) record.counter_rate = options.counter_rate;
  record.thread_counters = options.counters && record.setup.on_cpu();
  const bench::Peers peers(worker_command(options.subject), false);
  check_recording(options, peers);
  const bench::ModelInfo model = described_model(options);
  if (!model.engine_precision.empty()) options.precisions = {model.engine_precision};
  if (const std::string note = random_weights_note(options.model, options.subject.parameters); !note.empty())
    fmt::print(stderr, "note: {}\n", note);
  // If the first dimension is fixed, it need not be a batch; the default batch 1 then means one run of the
  // model as it is.
  if (!model.dynamic_batch && options.batches == std::vector<int64_t>{1})
    options.batches = {model.fixed_batch};
  for (const int64_t batch : options.batches) bench::require_runs_at(model, batch);
  const std::filesystem::path folder = options.output.empty() ? "runs" : options.output;
  refuse_file_name("-o", folder, "the traces of a model");
  const OutputFolder made(folder);
  const system::Interruptible interruptible;
  for (const int64_t batch : options.batches) {
    for (const std::string& precision : options.precisions) {
      for (const std::string& backend : options.backends) {
        record.setup.batch = batch;
        record.setup.precision = precision;
        record.setup.backend = backend;
        const auto claimed = claim_trace(
            (folder / fmt::format("{}-{}-{}-b{}", model.name, file_part(backend), precision, batch))
                .string());
        const std::string output = claimed->path().string();
        ProgressDisplay display(kPlainLineSeconds);
        record.progress = [&](const base::Progress& progress) { display.show(progress); };
        const record::ModelRecording recording = record::record_model(model, peers, record);
        display.clear();
        trace::write_store(recording.trace, output);
        print_summary(recording.trace, output, measures);
        system::throw_if_interrupted();
        if (measures) continue;
        fmt::print("{} {} {} batch {}: {:.4g} ms not recorded, {:.4g} ms recorded ({})  {}\n", model.name,
                   backend, precision, batch, recording.plain.p50, recording.recorded.p50,
                   cost_text(recording.trace), output);
      }
    }
  }
}

void profile_pipeline(const std::vector<std::string>& words) {
  std::unique_ptr<base::ReservedFile> claimed;
  if (trace_among(words).empty()) claimed = claim_trace("detect");
  profile_detect(words, claimed ? claimed->path().string() : "");
}

void run(const Options& options) {
  if (profiled_pipeline()) return profile_pipeline(*profiled_pipeline());
  const bool has_command = !profiled_command().empty();
  if (options.query_metrics && (has_command || !options.model.empty()))
    fail_usage("--query-metrics lists the metrics: it profiles neither a model nor a program");
  if (options.query_metrics) return list_metrics(options.chip, options.json);
  if (options.counters && !options.metrics.empty())
    fail_usage("--metrics and --counters read the same counters of the GPU: one of them at a time");
  if (has_command && !options.model.empty())
    fail_usage("either a model or, after --, a program can be profiled, not both");
  if (has_command && (options.record.observe.shapes || options.record.observe.memory))
    fail_usage("--record-shapes and --profile-memory are for models: a program after -- reports neither");
  if (has_command && options.record.cupti)
    fail_usage("--cupti is for models: a program after -- is always recorded through CUPTI");
  if (has_command)
    refuse_given(options.of_models, "is for models: a program after -- runs as it says itself");
  if (has_command) return profile_command(options);
  if (options.trace_threads) fail_usage("--trace-threads is for a program after --");
  if (options.model.empty()) fail_usage("nothing to profile: name a model, or a program after --");
  if (!options.captures_all())
    fail_usage(
        "--delay, --duration, --capture-range and --kernels are for programs; a model has --wait, --warmup, "
        "--active and --repeat");
  profile_model(options);
}

/// Returns the options, because they are refused for a program after "--".
OptionList add_model_options(CLI::App& command, Options& options) {
  trace::Schedule& schedule = options.record.schedule;
  options.record.setup.threads = system::usable_cores();
  OptionList list = add_subject_options(command, options.subject);
  const OptionList own = {
      command.add_option("--backends", options.backends, "Backends that run the model")
          ->delimiter(',')
          ->capture_default_str(),
      command
          .add_option("--precisions", options.precisions,
                      "fp32, tf32, bf16, fp16, int8, int8+bf16, int8+fp16")
          ->delimiter(',')
          ->capture_default_str(),
      command.add_option("--batch,--batches", options.batches, "Batch sizes")
          ->delimiter(',')
          ->check(CLI::Range(int64_t{1}, int64_t{65536}))
          ->capture_default_str(),
      add_shapes_option(command, options.shapes),
      add_device_option(command, options.record.setup.device),
      command
          .add_option("--threads", options.record.setup.threads, "Threads of the model (default: all cores)")
          ->check(CLI::Range(1, 4096)),
      command.add_option("--wait", schedule.wait, "Iterations to skip in each cycle")->capture_default_str(),
      command.add_option("--warmup", schedule.warmup, "Iterations to record and discard")
          ->capture_default_str(),
      command.add_option("--active", schedule.active, "Iterations to keep")->capture_default_str(),
      command.add_option("--repeat", schedule.repeat, "Number of cycles")->capture_default_str()};
  list.insert(list.end(), own.begin(), own.end());
  const OptionList decoding = add_decoding_options(command, options.decoding);
  list.insert(list.end(), decoding.begin(), decoding.end());
  return list;
}

}  // namespace

void take_profiled_command(int* argc, char** argv) {
  if (*argc < 2 || std::strcmp(argv[1], "profile") != 0) return;
  char** const end = argv + *argc;
  if (*argc > 2 && std::strcmp(argv[2], "detect") == 0) {
    profiled_pipeline().emplace(argv + 3, end);
    *argc = 2;
    return;
  }
  char** const dashes =
      std::find_if(argv, end, [](const char* word) { return std::strcmp(word, "--") == 0; });
  if (dashes == end) return;
  profiled_command().assign(dashes + 1, end);
  *argc = static_cast<int>(dashes - argv);
}

void add_profile_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "profile", "Record a trace of a model, of a program after --, or of hone detect");
  const auto options = std::make_shared<Options>();
  command->add_option("model", options->model, "Built-in architecture, model file or engine");
  options->of_models = add_model_options(*command, *options);
  command->add_option("-o,--output", options->output,
                      "For a program the trace file (default: PROGRAM.trace.sqlite), for a model the folder "
                      "for traces (default: runs)");
  command->add_flag(
      "--record-shapes", options->record.observe.shapes,
      "Record input shapes and types of every operator (torch, torchscript; steps of hone always have them)");
  command->add_flag("--profile-memory", options->record.observe.memory,
                    "Record the memory that the backend allocates and frees (torch, torchscript)");
  command->add_flag("--no-driver-api", options->no_driver_api,
                    "Skip calls of the driver API: a smaller trace and less overhead");
  command->add_flag("--cupti", options->record.cupti,
                    "Record hone's kernels through CUPTI, as those of other backends, instead of by the "
                    "engine's own cheaper time stamps; --counters implies it");
  CLI::Option* counters = command->add_flag("--counters", options->counters,
                                            "Sample hardware counters of the GPU (SM, Tensor Core, DRAM and "
                                            "PCIe activity); on the CPU, count for each thread and step");
  command->add_option("--counter-rate", options->counter_rate, "Counter samples per second (GPU)")
      ->check(finite_range(0, 1e9))
      ->needs(counters)
      ->capture_default_str();
  command
      ->add_option("--metrics", options->metrics,
                   "Measure these metrics for every kernel launch instead of recording a timeline: names of "
                   "nvprof or Nsight Compute, separated by commas")
      ->delimiter(',');
  CLI::Option* query = command->add_flag("--query-metrics", options->query_metrics,
                                         "List the kernel metrics that can be measured");
  command
      ->add_option("--chip", options->chip,
                   "List the metrics of this chip, such as GH100, instead of the local GPU")
      ->needs(query);
  command->add_flag("--json", options->json, "Print the list as JSON")->needs(query);
  trace::CaptureOptions& capture = options->capture;
  command->add_option("--delay", capture.delay_s, "Seconds before recording starts");
  command->add_option("--duration", capture.duration_s,
                      "Seconds to record; the program runs on to its own end");
  command->add_option("--capture-range", capture.range,
                      "Record between cudaProfilerStart and cudaProfilerStop (cudaProfilerApi), or inside "
                      "NVTX ranges of a name (nvtx:NAME)");
  command->add_option("--kernels", capture.kernels,
                      "Record only kernels whose names match this regular expression");
  command->add_flag("--trace-threads,--cpu-thread-tracing", options->trace_threads,
                    "Record where threads wait for each other (pthread_join, mutexes, conditions, "
                    "semaphores), so that the critical path follows the right thread");
  command->callback([options] { run(*options); });
}

}  // namespace hone::cli
