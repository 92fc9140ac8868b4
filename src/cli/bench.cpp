// `hone bench`: measures systems in turns, each configuration in its own process, with confidence intervals
// and a verdict.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>

#include "backend/backend.hpp"
#include "backend/partition/partition_backend.hpp"
#include "backend/registry.hpp"
#include "backend/run_precision.hpp"
#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/partition_file.hpp"
#include "base/plugin.hpp"
#include "base/plugin_manifest.hpp"
#include "bench/results/figures.hpp"
#include "bench/results/gate.hpp"
#include "bench/results/model_names.hpp"
#include "bench/results/results.hpp"
#include "bench/sweep/sweep.hpp"
#include "bench/worker/subject.hpp"
#include "cli/bench_limits.hpp"
#include "cli/bench_screen.hpp"
#include "cli/command.hpp"
#include "cli/engine_options.hpp"
#include "cli/folder.hpp"
#include "cli/model_options.hpp"
#include "cli/option_checks.hpp"
#include "cli/subject_options.hpp"
#include "cli/tensorrt_options.hpp"
#include "cli/terminal.hpp"
#include "device/cpu/instructions.hpp"
#include "device/devices.hpp"
#include "engine/engine_file.hpp"
#include "report/terminal/bench_csv.hpp"
#include "report/terminal/bench_layers.hpp"
#include "report/terminal/bench_summary.hpp"
#include "system/cpu.hpp"
#include "system/interruption.hpp"

namespace hone::cli {
namespace {

struct Arguments {
  bench::SweepOptions sweep;
  SubjectOptions subject;
  BenchLimits limits;
  bool csv = false;
  bool json = false;
  bool full = false;
  std::vector<std::string> peers;
  std::vector<std::string> peer_names;
  std::vector<std::string> partitions;
  std::vector<std::string> shapes;
  std::string output = "runs";
  double percentile = 50;
  double warmup_ms = 200;
  bool save_result = false;
  /// Sentences about configurations that the default sweep leaves out on this machine, and how to measure
  /// them.
  std::vector<std::string> left_out;
};

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

/// <folder>/resnet50-2026-11-21T012345Z.json; the name must be unique because another sweep may have begun in
/// the same second.
std::filesystem::path result_path(const Arguments& arguments) {
  std::string date = base::utc_date();
  std::erase(date, ':');
  std::string stem = bench::file_stem(arguments.sweep.models.front());
  if (arguments.sweep.models.size() > 1)
    stem += fmt::format("-and-{}-more", arguments.sweep.models.size() - 1);
  return std::filesystem::path(arguments.output) / (stem + "-" + date + ".json");
}

/// Keeps only the first of equal items, so that each configuration is measured once.
template <class T, class Equal = std::equal_to<T>>
void drop_repeated(std::vector<T>* items, const Equal& equal = {}) {
  std::vector<T> kept;
  for (const T& item : *items) {
    const auto is_item = [&](const T& other) { return equal(item, other); };
    if (std::none_of(kept.begin(), kept.end(), is_item)) kept.push_back(item);
  }
  *items = std::move(kept);
}

/// Refuses options that need a device with its own memory and caches.
void check_device_options(const bench::Setup& setup) {
  const bool cpu = setup.on_cpu();
  if (cpu && setup.cold_l2) fail_usage("--coldL2 empties the caches of a GPU: give --device cuda");
  if (setup.cold_l2 && setup.streams > 1)
    fail_usage("--coldL2 and --infStreams exclude each other: runs that overlap keep the cache warm");
}

size_t count_engines(const std::vector<std::string>& models) {
  return static_cast<size_t>(std::count_if(models.begin(), models.end(), [](const std::string& model) {
    std::error_code unknown;
    return std::filesystem::is_regular_file(model, unknown) && engine::is_engine_file(model);
  }));
}

/// An engine has a fixed precision, and only hone can run it.
void check_engines(const Arguments& arguments, size_t engines) {
  const bench::SweepOptions& sweep = arguments.sweep;
  const bool all = engines == sweep.models.size();
  if (all && !sweep.precisions.empty())
    fail_usage("--precisions is for models: an engine runs in the precision that it was built with");
  std::vector<std::string> backends = sweep.backends;
  backends.insert(backends.end(), arguments.peer_names.begin(), arguments.peer_names.end());
  for (const std::string& name : backends) {
    if (name != backend::kOwnBackend)
      fail_usage("--backends {}: only hone runs its engines; give the model to compare it with", name);
  }
}

void check_output_folder(const std::string& folder) {
  std::error_code unknown;
  if (std::filesystem::is_regular_file(folder, unknown))
    fail_usage("-o names the folder for the result file, and {} is a file", folder);
  refuse_file_name("-o", folder, "the result file");
}

/// Fails before the sweep if the result files could not be written after it.
void check_small_results(const Arguments& arguments) {
  if (!arguments.save_result) return;
  const OutputFolder folder("results");
  for (const std::string& name : bench::distinct_names(arguments.sweep.models)) {
    const std::filesystem::path path = std::filesystem::path("results") / name;
    const OutputFolder model(path);
    for (const std::string& backend : arguments.sweep.backends)
      base::check_writable(path / (backend + ".json"));
  }
}

/// Chooses fp32 and the 16-bit type for which the device has multiply instructions. Emulated bf16 is left
/// out, because one run in it takes PyTorch seconds.
void choose_precisions(Arguments* arguments) {
  bench::SweepOptions& sweep = arguments->sweep;
  sweep.precisions = {"fp32", sweep.measure.setup.on_cpu() ? "bf16" : "fp16"};
  if (!sweep.measure.setup.on_cpu() || device::cpu::has_level(device::cpu::Level::kAvx512Bf16)) return;
  sweep.precisions.pop_back();
  const bool only_engines = count_engines(sweep.models) == sweep.models.size();
  if (!only_engines)
    arguments->left_out.emplace_back(
        "bf16 is left out: this CPU has no instructions for it, and emulating it is slow; "
        "--precisions fp32 bf16 measures it");
}

/// Removes backends whose plugin is not installed, and appends a sentence about each such plugin. This is for
/// the default backends only.
void leave_out_missing_plugins(std::vector<std::string>* backends, std::vector<std::string>* sentences) {
  for (const base::PluginManifest& manifest : base::plugin_manifests()) {
    std::vector<std::string> offered;
    for (const base::ManifestBackend& backend : manifest.backends) {
      if (std::ranges::find(*backends, backend.name) != backends->end()) offered.push_back(backend.name);
    }
    if (offered.empty()) continue;
    try {
      base::plugin_file(manifest.name);
    } catch (const Error& missing) {
      for (const std::string& name : offered) std::erase(*backends, name);
      sentences->push_back(fmt::format("left out: {}: {}", fmt::join(offered, ", "), missing.what()));
    }
  }
}

/// Checks the arguments and fills in defaults.
void complete(Arguments* arguments) {
  bench::SweepOptions& sweep = arguments->sweep;
  const size_t engines = count_engines(sweep.models);
  if (engines > 0) check_engines(*arguments, engines);
  const std::vector<std::string> usual = engines > 0
                                             ? std::vector<std::string>{std::string(backend::kOwnBackend)}
                                             : backend::benchmarked_backends(sweep.measure.setup.device);
  // A damaged manifest would otherwise silently remove the row of its backend.
  if (sweep.backends.empty()) base::require_readable_manifests();
  if (sweep.backends.empty()) {
    sweep.backends = usual;
    leave_out_missing_plugins(&sweep.backends, &arguments->left_out);
  }
  std::vector<std::string> partitioned;
  for (const std::string& file : arguments->partitions) {
    // Read the file now, so that an error in it appears before anything is measured.
    partitioned.push_back(base::read_partition(file).precision);
    sweep.backends.push_back(std::string(backend::partition::kPrefix) + file);
  }
  // A peer that the command line names is always measured.
  sweep.backends.insert(sweep.backends.end(), arguments->peer_names.begin(), arguments->peer_names.end());
  if (arguments->full) sweep.usual_batches = {1, 8, 16, 32};
  // The blocks of a partition run only in the precision that it was made for.
  if (sweep.precisions.empty()) sweep.precisions = partitioned;
  if (sweep.precisions.empty()) choose_precisions(arguments);
  sweep.shapes = parse_named_shapes(arguments->shapes);
  // Shapes in the form of trtexec's options include the batch.
  if (sweep.batches.empty() && !sweep.shapes.empty()) {
    const tensor::Shape& first = sweep.shapes.begin()->second;
    if (!first.empty() && first.front() > 1) sweep.batches = {first.front()};
  }
  for (const std::string& name : sweep.precisions) backend::parse_run_precision(name);
  bench::parse_share(arguments->limits.max_regression);
  check_device_options(sweep.measure.setup);
  drop_repeated(&sweep.models, bench::same_model);
  drop_repeated(&sweep.backends);
  drop_repeated(&sweep.precisions);
  drop_repeated(&sweep.batches);
  sweep.measure.percentile = arguments->percentile / 100;
  sweep.measure.warmup_seconds = arguments->warmup_ms / 1e3;
  sweep.command_line = command_line();
  sweep.load_model = [subject = arguments->subject](const std::string& spec) {
    importer::Model model = bench::load_subject(spec, subject.parameters);
    refuse_batch_size(subject, model);
    return model;
  };
  const auto& backends = sweep.backends;
  if (sweep.compare_to.empty()) {
    const bool has_usual = std::find(backends.begin(), backends.end(), usual.front()) != backends.end();
    sweep.compare_to = has_usual ? usual.front() : backends.front();
  } else if (std::find(backends.begin(), backends.end(), sweep.compare_to) == backends.end()) {
    fail_usage("--compare-to {}: this backend is not among those measured", sweep.compare_to);
  }
}

void show_results(const Arguments& arguments, const bench::Sweep& sweep, BenchScreen* screen) {
  const bench::SweepRecord record = bench::record_of(sweep);
  if (arguments.csv || arguments.json) {
    screen->clear();
    fmt::print("{}", arguments.csv
                         ? report::bench_csv(record, arguments.sweep.percentiles)
                         : bench::to_json(sweep).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
    if (arguments.csv && arguments.sweep.measure.layers) fmt::print("\n{}", report::layers_csv(record));
    return;
  }
  for (const bench::RunRecord& run : record.runs) {
    if (run.layers.empty()) continue;
    screen->line("");
    for (const std::string& line : sheet_text(report::bench_layer_sheet(run), terminal_style(0)))
      screen->line(line);
  }
  screen->line("");
  for (const std::string& model : arguments.sweep.models) {
    if (const std::string note = random_weights_note(model, arguments.subject.parameters); !note.empty())
      screen->line(note);
  }
  if (record.runs.size() == 1 && record.runs.front().measured()) {
    for (const std::string& line : report::bench_summary(record.runs.front())) screen->line(line);
  }
  std::vector<std::string> remarks;
  for (const bench::Run& run : sweep.runs) {
    for (std::string& remark : run.remarks()) remarks.push_back(std::move(remark));
  }
  for (const std::string& note : report::bench_notes(record, form_of(arguments.sweep), remarks))
    screen->line(note);
}

void run_bench(Arguments* arguments) {
  bench::Peers peers(worker_command(arguments->subject));
  for (const std::string& peer : arguments->peers) arguments->peer_names.push_back(peers.add(peer));
  complete(arguments);
  check_output_folder(arguments->output);
  bench::Sweep baseline;
  if (!arguments->limits.baseline.empty()) baseline = bench::read_sweep(arguments->limits.baseline);
  // Only built-in backends are checked against the device: a peer decides by itself what it runs on.
  const std::vector<std::string> known = backend::backend_names();
  if (std::any_of(arguments->sweep.backends.begin(), arguments->sweep.backends.end(),
                  [&](const std::string& name) {
                    return std::find(known.begin(), known.end(), name) != known.end();
                  }))
    device::require_device(arguments->sweep.measure.setup.device);
  const SubjectOptions& subject = arguments->subject;
  if (!subject.inputs.empty() || !subject.values.empty())
    arguments->sweep.given =
        given_inputs(subject, arguments->sweep.load_model(arguments->sweep.models.front()));
  check_small_results(*arguments);
  const std::filesystem::path wanted = result_path(*arguments);
  const OutputFolder folder(wanted.parent_path());
  base::check_writable(wanted);
  const base::ReservedFile reserved(wanted);
  const std::filesystem::path& path = reserved.path();
  // Ctrl-C ends the sweep after the current step and keeps the results so far.
  const system::Interruptible interruptible;

  BenchScreen screen(arguments->sweep, arguments->csv || arguments->json);
  bench::SweepEvents events;
  events.on_plan = [&](const bench::Sweep& planned, double seconds) {
    if (!arguments->limits.baseline.empty()) bench::require_comparable(baseline, planned);
    screen.plan(planned, seconds);
    for (const std::string& sentence : arguments->left_out) screen.line(sentence);
  };
  events.on_progress = [&](const base::Progress& progress) { screen.progress(progress); };
  events.on_change = [&](const bench::Sweep& sweep) { bench::write_sweep(sweep, path); };
  events.on_group = [&](std::span<const bench::Run> runs) { screen.group(runs); };
  bench::Sweep sweep;
  try {
    sweep = bench::run_sweep(arguments->sweep, peers, events, &system::interruption());
  } catch (const Error&) {
    screen.clear();
    throw;
  }
  const bool measured = std::ranges::any_of(sweep.runs, [](const bench::Run& run) { return run.measured(); });
  const bool is_empty = !sweep.complete && !measured;
  if (!is_empty) show_results(*arguments, sweep, &screen);
  if (arguments->save_result && sweep.complete) {
    for (const auto& file : bench::write_small_results(sweep, arguments->sweep.models, "results"))
      screen.line("written: " + file.string());
  }
  if (is_empty) {
    std::filesystem::remove(path);
    screen.line("interrupted before anything was measured");
    throw system::Interrupted{};
  }
  screen.line((sweep.complete ? "written: " : "interrupted; what was measured is in ") + path.string());
  system::throw_if_interrupted();
  judge_sweep(arguments->limits, peers, sweep);
  if (!arguments->limits.baseline.empty())
    run_gate(arguments->limits, arguments->sweep, peers, baseline, sweep, &screen);
  require_all_measured(peers, sweep);
}

/// The default backends: "torch hone; on cuda torch torch-graph hone".
std::string usual_backends() {
  const std::vector<std::string> cpu = backend::benchmarked_backends("cpu");
  const std::vector<std::string> cuda = backend::benchmarked_backends("cuda");
  std::string text = fmt::format("{}", fmt::join(cpu, " "));
  if (cuda != cpu) text += fmt::format("; on cuda {}", fmt::join(cuda, " "));
  return text;
}

void add_measure_options(CLI::App* command, Arguments* arguments) {
  bench::MeasureOptions& measure = arguments->sweep.measure;
  command->add_option("--threads", measure.setup.threads, "Threads of every backend (default: all cores)")
      ->check(CLI::Range(1, 4096));
  command
      ->add_option("--busy", measure.setup.busy,
                   "Busy threads that another process runs during the measurement")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command
      ->add_option("--warmup", arguments->warmup_ms,
                   "Minimum warm-up in milliseconds; it continues until the latency is stable")
      ->check(finite_range(0, 1e9))
      ->capture_default_str();
  command
      ->add_option("--iterations", measure.iterations,
                   "Measure at least this many runs of each configuration")
      ->check(CLI::Range(int64_t{1}, bench::MeasureOptions::kMostSamples))
      ->capture_default_str();
  command
      ->add_option("--duration", measure.duration_seconds,
                   fmt::format("Seconds to measure each configuration; it ends sooner after {} million runs",
                               bench::MeasureOptions::kMostSamples / 1'000'000))
      ->check(finite_range(0.001, 1e6))
      ->capture_default_str();
  command->add_flag("--exact", measure.exact, "Measure exactly --iterations runs, however long they take");
  command->add_option("--rounds", measure.rounds, "Rounds: the configurations take turns this many times")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command
      ->add_option("--require-percentile,--percentile", arguments->percentile,
                   "Highest percentile that needs enough samples for a VALID verdict")
      ->check(finite_range(50.0, 99.9))
      ->capture_default_str();
  command->add_option("--timeout", measure.timeout_seconds, "Seconds that a worker may take for one answer")
      ->check(finite_range(0.1, 1e6))
      ->capture_default_str();
}

}  // namespace

void add_bench_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "bench", "Benchmark a model on several systems side by side, with error bars and a verdict");
  const auto arguments = std::make_shared<Arguments>();
  bench::SweepOptions& sweep = arguments->sweep;
  sweep.measure.setup.threads = system::usable_cores();
  command->add_option("model", sweep.models, "Built-in architectures, model files or engines")->required();
  command
      ->add_option("--backends", sweep.backends,
                   fmt::format("Backends to measure (default: {})", usual_backends()))
      ->delimiter(',');
  command
      ->add_option(
          "--precisions", sweep.precisions,
          "fp32, tf32, bf16, fp16, int8, int8+fp16, int8+bf16; for int8 hone calibrates on generated inputs "
          "(default: fp32 bf16; fp32 on CPUs that would emulate bf16; fp32 fp16 on cuda; with "
          "--partition, the partition's)")
      ->delimiter(',');
  add_device_option(*command, sweep.measure.setup.device);
  command->add_flag("--includeDataTransfers", sweep.measure.setup.transfers,
                    "On cuda: latencies include copying inputs to the device and outputs back");
  command->add_flag("--coldL2", sweep.measure.setup.cold_l2,
                    "On cuda: empty the L2 cache before every run, outside of its time");
  command
      ->add_option("--streams,--infStreams", sweep.measure.setup.streams,
                   "Parallel streams for the pipelined throughput, each with its own context and, on the "
                   "CPU, --threads threads")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_option("--batches", sweep.batches, "Batch sizes (default: 1 8)")
      ->delimiter(',')
      ->check(CLI::Range(int64_t{1}, int64_t{65536}));
  command->add_flag("--full", arguments->full, "Measure batches 1 8 16 32")->excludes("--batches");
  add_shapes_option(*command, arguments->shapes);
  add_subject_options(*command, arguments->subject);
  command->add_option("--percentiles", sweep.percentiles, "Percentiles to show")
      ->delimiter(',')
      ->check(finite_range(0.1, 99.999))
      ->capture_default_str();
  command->add_flag("--layers", sweep.measure.layers,
                    "Show the time of every layer and the types and shapes of its inputs and outputs");
  CLI::Option* csv =
      command->add_flag("--csv", arguments->csv, "Print the results as CSV instead of the table");
  command->add_flag("--json", arguments->json, "Print the result file instead of the table")->excludes(csv);
  command
      ->add_option("--max-error", arguments->limits.max_error,
                   "Exit with 5 when the relative error of a run is larger")
      ->check(finite_range(1e-12, 1e6));
  add_decoding_options(*command, sweep.decoding);
  add_measure_options(command, arguments.get());
  command->add_option("--compare-to", sweep.compare_to,
                      fmt::format("Baseline of the speedups (default: {}, else the first backend)",
                                  backend::benchmarked_backends("cpu").front()));
  add_tensorrt_options(*command, sweep.measure.settings);
  command->add_option("--partition", arguments->partitions,
                      "Also measure a partition, a file that hone partition wrote");
  command->add_option("--peer", arguments->peers, "Also measure an external backend: name=command");
  command->add_option("-o,--output", arguments->output, "Folder for the result file")->capture_default_str();
  command->add_flag("--save-result", arguments->save_result, "Also write results/<model>/<backend>.json");
  command->add_flag("--require-valid", arguments->limits.require_valid,
                    "Exit with 5 unless every run is VALID");
  CLI::Option* baseline = command->add_option("--baseline", arguments->limits.baseline,
                                              "Result file to compare with; exit with 5 when slower");
  command
      ->add_option("--max-regression", arguments->limits.max_regression,
                   "Slowdown that is allowed against --baseline")
      ->needs(baseline)
      ->capture_default_str();
  command->callback([arguments] { run_bench(arguments.get()); });
}

}  // namespace hone::cli
