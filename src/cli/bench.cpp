// `hone bench`: systems side by side, every configuration in its own process, with error bars and a verdict.
#include <fmt/format.h>

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
#include "base/plugin_manifest.hpp"
#include "bench/results/gate.hpp"
#include "bench/results/results.hpp"
#include "bench/sweep/sweep.hpp"
#include "cli/bench_screen.hpp"
#include "cli/command.hpp"
#include "cli/engine_options.hpp"
#include "cli/folder.hpp"
#include "cli/option_checks.hpp"
#include "device/devices.hpp"
#include "engine/source_model.hpp"
#include "report/terminal/bench_summary.hpp"
#include "system/cpu.hpp"
#include "system/interruption.hpp"

namespace hone::cli {
namespace {

struct Arguments {
  bench::SweepOptions sweep;
  std::vector<std::string> peers;
  std::vector<std::string> partitions;
  std::vector<std::string> shapes;
  std::string output = "runs";
  double percentile = 50;
  double warmup_ms = 200;
  bool save_result = false;
  bool require_valid = false;
  std::string baseline;
  std::string max_regression = "5%";
};

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

/// <folder>/resnet50-2026-11-21T012345Z.json; another sweep may have begun in the same second.
std::filesystem::path result_path(const Arguments& arguments) {
  std::string date = base::utc_date();
  std::erase(date, ':');
  std::string stem = bench::file_stem(arguments.sweep.models.front());
  if (arguments.sweep.models.size() > 1)
    stem += fmt::format("-and-{}-more", arguments.sweep.models.size() - 1);
  return std::filesystem::path(arguments.output) / (stem + "-" + date + ".json");
}

/// Keeps the first of equal items: a configuration is measured once.
template <class T, class Equal = std::equal_to<T>>
void drop_repeated(std::vector<T>* items, const Equal& equal = {}) {
  std::vector<T> kept;
  for (const T& item : *items) {
    const auto is_item = [&](const T& other) { return equal(item, other); };
    if (std::none_of(kept.begin(), kept.end(), is_item)) kept.push_back(item);
  }
  *items = std::move(kept);
}

/// What only a device with memory and caches of its own can do.
void check_device_options(const bench::Setup& setup) {
  const bool cpu = setup.on_cpu();
  if (cpu && setup.cold_l2) fail_usage("--coldL2 empties the caches of a GPU: give --device cuda");
  if (cpu && setup.streams > 1)
    fail_usage(
        "--infStreams overlaps runs on a GPU, on the CPU one run uses all threads: give --device cuda");
  if (setup.cold_l2 && setup.streams > 1)
    fail_usage("--coldL2 and --infStreams exclude each other: runs that overlap keep the cache warm");
}

/// Checks and completes what the command line gave.
void complete(Arguments* arguments) {
  bench::SweepOptions& sweep = arguments->sweep;
  const bool cuda = !sweep.measure.setup.on_cpu();
  const std::vector<std::string> usual = backend::benchmarked_backends(sweep.measure.setup.device);
  // Else the row of a backend would be missing without a word.
  if (sweep.backends.empty()) base::require_readable_manifests();
  if (sweep.backends.empty()) sweep.backends = usual;
  for (const std::string& file : arguments->partitions) {
    // Before anything is measured.
    base::read_partition(file);
    sweep.backends.push_back(std::string(backend::partition::kPrefix) + file);
  }
  if (sweep.precisions.empty()) sweep.precisions = {"fp32", cuda ? "fp16" : "bf16"};
  sweep.shapes = parse_named_shapes(arguments->shapes);
  for (const std::string& name : sweep.precisions) backend::parse_run_precision(name);
  bench::parse_share(arguments->max_regression);
  check_device_options(sweep.measure.setup);
  drop_repeated(&sweep.models, bench::same_model);
  drop_repeated(&sweep.backends);
  drop_repeated(&sweep.precisions);
  drop_repeated(&sweep.batches);
  sweep.measure.percentile = arguments->percentile / 100;
  sweep.measure.warmup_seconds = arguments->warmup_ms / 1e3;
  sweep.command_line = command_line();
  sweep.load_model = [](const std::string& spec) { return engine::load_source_model(spec); };
  const auto& backends = sweep.backends;
  if (sweep.compare_to.empty()) {
    const bool has_usual = std::find(backends.begin(), backends.end(), usual.front()) != backends.end();
    sweep.compare_to = has_usual ? usual.front() : backends.front();
  } else if (std::find(backends.begin(), backends.end(), sweep.compare_to) == backends.end()) {
    fail_usage("--compare-to {}: this backend is not among those measured", sweep.compare_to);
  }
}

bool has_input(const importer::Model& model, const std::string& name) {
  if (model.graph == nullptr) return true;  // an archive does not tell
  const auto& inputs = model.graph->inputs;
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](graph::ValueId id) { return model.graph->value(id).name == name; });
}

/// One configuration again, in a sweep of its own.
bench::Run remeasure(const bench::SweepOptions& options, const bench::Peers& peers,
                     const bench::Setup& setup) {
  bench::SweepOptions one = options;
  one.models = {setup.model};
  one.backends = {setup.backend};
  one.precisions = {setup.precision};
  one.batches = {setup.batch};
  if (options.models.size() > 1) {
    const importer::Model model = options.load_model(setup.model);
    std::erase_if(one.shapes, [&](const auto& shape) { return !has_input(model, shape.first); });
  }
  bench::Sweep sweep = bench::run_sweep(one, peers, {}, &system::interruption());
  system::throw_if_interrupted();
  return sweep.runs.front();
}

void run_gate(const Arguments& arguments, const bench::Peers& peers, const bench::Sweep& baseline,
              const bench::Sweep& sweep, BenchScreen* screen) {
  const double limit = bench::parse_share(arguments.max_regression);
  const bench::Gate gate =
      bench::compare_with_baseline(baseline, sweep, limit, [&](const bench::Setup& setup) {
        screen->line("measuring again: " + setup.text());
        return remeasure(arguments.sweep, peers, setup);
      });
  size_t failed = 0;
  for (const bench::GateRow& row : gate.rows) {
    failed += row.passed() ? 0 : 1;
    const char* const outcome = row.passed()                                       ? "ok       "
                                : row.outcome == bench::GateRow::Outcome::kUnknown ? "UNKNOWN  "
                                                                                   : "REGRESSED";
    screen->line(fmt::format("{}  {}: {}", outcome, row.setup.text(), row.sentence));
  }
  if (!gate.passed()) {
    throw Error(
        ErrorKind::kThreshold,
        fmt::format("{} of {} configurations are worse than the baseline allows, or cannot be told from that",
                    failed, gate.rows.size()));
  }
}

void judge_sweep(const Arguments& arguments, const bench::Peers& peers, const bench::Sweep& sweep) {
  const auto measured = std::count_if(sweep.runs.begin(), sweep.runs.end(),
                                      [](const bench::Run& run) { return run.measured(); });
  if (measured == 0) {
    const auto bug = std::find_if(sweep.runs.begin(), sweep.runs.end(), [&](const bench::Run& run) {
      return run.failed_by_bug && !peers.is_external(run.setup.backend);
    });
    if (bug != sweep.runs.end()) fail_internal("no configuration could be measured: {}", *bug->failure);
    const std::string first = sweep.runs.empty() ? "" : sweep.runs.front().failure.value_or("no samples");
    const bool same = std::all_of(sweep.runs.begin(), sweep.runs.end(),
                                  [&](const bench::Run& run) { return run.failure == first; });
    fail_environment("no configuration could be measured{}{}", same && !first.empty() ? ": " : "",
                     same ? first : "");
  }
  const auto invalid = std::count_if(sweep.runs.begin(), sweep.runs.end(),
                                     [](const bench::Run& run) { return !run.verdict.valid; });
  if (arguments.require_valid && invalid > 0) {
    throw Error(ErrorKind::kThreshold,
                fmt::format("{} of {} runs are not VALID", invalid, sweep.runs.size()));
  }
}

void run_bench(Arguments* arguments) {
  complete(arguments);
  bench::Peers peers({std::filesystem::canonical("/proc/self/exe").string(), "worker"});
  for (const std::string& peer : arguments->peers) peers.add(peer);
  bench::Sweep baseline;
  if (!arguments->baseline.empty()) baseline = bench::read_sweep(arguments->baseline);
  // A peer knows best what it runs on.
  const std::vector<std::string> known = backend::backend_names();
  if (std::any_of(arguments->sweep.backends.begin(), arguments->sweep.backends.end(),
                  [&](const std::string& name) {
                    return std::find(known.begin(), known.end(), name) != known.end();
                  }))
    device::require_device(arguments->sweep.measure.setup.device);
  const std::filesystem::path wanted = result_path(*arguments);
  const OutputFolder folder(wanted.parent_path());
  base::check_writable(wanted);
  const base::ReservedFile reserved(wanted);
  const std::filesystem::path& path = reserved.path();
  // Ctrl-C ends the sweep in order, and keeps what was measured.
  const system::Interruptible interruptible;

  BenchScreen screen(arguments->sweep);
  bench::SweepEvents events;
  if (!arguments->baseline.empty())
    events.on_plan = [&](const bench::Sweep& planned) { bench::require_comparable(baseline, planned); };
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

  screen.line("");
  if (sweep.runs.size() == 1 && sweep.runs.front().measured()) {
    for (const std::string& line : report::bench_summary(sweep.runs.front())) screen.line(line);
  }
  for (const std::string& note : report::bench_notes(sweep, arguments->sweep)) screen.line(note);
  if (arguments->save_result && sweep.complete) {
    for (const auto& file : bench::write_small_results(sweep, arguments->sweep.models, "results"))
      screen.line("written: " + file.string());
  }
  screen.line((sweep.complete ? "written: " : "interrupted; what was measured is in ") + path.string());
  system::throw_if_interrupted();
  judge_sweep(*arguments, peers, sweep);
  if (!arguments->baseline.empty()) run_gate(*arguments, peers, baseline, sweep, &screen);
}

/// What is measured when no backends are named: "torch hone; on cuda torch torch-graph hone".
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
                   "Foreign threads that spin while runs are measured, as part of the setup")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command
      ->add_option("--warmup", arguments->warmup_ms,
                   "Warm up at least this many milliseconds; its end is detected")
      ->check(finite_range(0, 1e9))
      ->capture_default_str();
  command
      ->add_option("--iterations", measure.iterations,
                   "Measure at least this many runs of each configuration")
      ->check(CLI::Range(int64_t{1}, bench::MeasureOptions::kMostSamples))
      ->capture_default_str();
  command
      ->add_option(
          "--duration", measure.duration_seconds,
          fmt::format("Measure each configuration this many seconds, or {} million runs if that is sooner",
                      bench::MeasureOptions::kMostSamples / 1'000'000))
      ->check(finite_range(0.001, 1e6))
      ->capture_default_str();
  command->add_option("--rounds", measure.rounds, "Rounds in which the configurations take turns")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command
      ->add_option("--percentile", arguments->percentile, "Highest percentile the verdict has to vouch for")
      ->check(finite_range(50.0, 99.9))
      ->capture_default_str();
  command->add_option("--timeout", measure.timeout_seconds, "Seconds a worker may take for one answer")
      ->check(finite_range(0.1, 1e6))
      ->capture_default_str();
}

}  // namespace

void add_bench_command(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("bench", "Measure systems side by side, with error bars and a verdict");
  const auto arguments = std::make_shared<Arguments>();
  bench::SweepOptions& sweep = arguments->sweep;
  sweep.measure.setup.threads = system::usable_cores();
  command->add_option("model", sweep.models, "Built-in architectures or model files")->required();
  command
      ->add_option("--backends", sweep.backends,
                   fmt::format("Systems to measure (default: {})", usual_backends()))
      ->delimiter(',');
  command
      ->add_option(
          "--precisions", sweep.precisions,
          "fp32, tf32, bf16, fp16, int8, int8+fp16; int8 of hone is calibrated on generated inputs (default: "
          "fp32 bf16; on cuda fp32 fp16)")
      ->delimiter(',');
  add_device_option(*command, sweep.measure.setup.device);
  command->add_flag("--includeDataTransfers", sweep.measure.setup.transfers,
                    "On cuda: latencies include copying inputs to the device and outputs back");
  command->add_flag("--coldL2", sweep.measure.setup.cold_l2,
                    "On cuda: empty the L2 cache before every run, outside of its time");
  command
      ->add_option("--infStreams", sweep.measure.setup.streams,
                   "On cuda: streams of the pipelined throughput, each with a context of its own")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_option("--batches", sweep.batches, "Batch sizes (default: 1 8 16 32)")
      ->delimiter(',')
      ->check(CLI::Range(int64_t{1}, int64_t{65536}));
  add_shapes_option(*command, arguments->shapes);
  CLI::Option* bind = command->add_option(
      "--bind", sweep.decoding.bind, "INPUT=OUTPUT of a decoder's caches, as past_key_values.*=present.*");
  command
      ->add_option("--context", sweep.decoding.context,
                   "Measure the next token at this many, itself included: so long are the bound caches")
      ->needs(bind)
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30));
  add_measure_options(command, arguments.get());
  command->add_option("--compare-to", sweep.compare_to,
                      fmt::format("Backend that speedups refer to (default: {}, else the first)",
                                  backend::benchmarked_backends("cpu").front()));
  command->add_option("--partition", arguments->partitions,
                      "Also measure a partition that hone partition wrote, beside the backends");
  command->add_option("--peer", arguments->peers, "An external backend: name=command");
  command->add_option("-o,--output", arguments->output, "Folder for the result file")->capture_default_str();
  command->add_flag("--save-result", arguments->save_result, "Also write results/<model>/<backend>.json");
  command->add_flag("--require-valid", arguments->require_valid, "Exit with 5 unless every run is VALID");
  CLI::Option* baseline = command->add_option("--baseline", arguments->baseline,
                                              "Result file to compare with; exit with 5 when slower");
  command->add_option("--max-regression", arguments->max_regression, "What --baseline allows")
      ->needs(baseline)
      ->capture_default_str();
  command->callback([arguments] { run_bench(arguments.get()); });
}

}  // namespace hone::cli
