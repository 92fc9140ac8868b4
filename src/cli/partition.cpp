// `hone partition`: shows which nodes of a model each backend takes, how to split the model between backends,
// and what the transfers at the borders cost.
#include <fmt/core.h>

#include <limits>
#include <memory>
#include <optional>

#include "backend/partition/dry_run_report.hpp"
#include "backend/partition/partitioner.hpp"
#include "backend/run_precision.hpp"
#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/partition_file.hpp"
#include "bench/worker/inputs.hpp"
#include "cli/command.hpp"
#include "cli/engine_options.hpp"
#include "cli/model_options.hpp"
#include "cli/option_checks.hpp"
#include "cli/progress_display.hpp"
#include "cli/tensorrt_options.hpp"
#include "engine/source_model.hpp"
#include "report/terminal/partition_text.hpp"
#include "report/terminal/sheet.hpp"
#include "system/cpu.hpp"
#include "system/scratch.hpp"
#include "tensor/place.hpp"

namespace hone::cli {
namespace {

constexpr double kPlainLineSeconds = 5;

struct Options {
  std::string model;
  std::vector<std::string> backends = {"hone", "reference"};
  std::vector<std::string> excluded;
  std::vector<std::string> shapes;
  importer::LoadModelOptions parameters;
  std::string device = "cpu";
  std::string precision = "fp32";
  std::map<std::string, std::string> settings;
  int64_t min_block_size = 5;
  int64_t batch = 1;
  int threads = system::usable_cores();
  bool dry_run = false;
  bool measure = false;
  bool require_full = false;
  bool json = false;
  std::string dry_run_report;
  std::string output;
};

/// Returns the input shapes of one run at this batch.
std::map<std::string, tensor::Shape> shapes_of(const bench::ModelInfo& info, int64_t batch) {
  bench::require_runs_at(info, batch);
  std::map<std::string, tensor::Shape> shapes;
  for (const bench::InputInfo& input : info.inputs) {
    tensor::Shape& shape = shapes[input.name] = input.shape;
    if (input.batched) shape.front() = batch;
  }
  return shapes;
}

/// Generates the inputs that hone bench uses for its first run.
std::vector<tensor::Tensor> make_inputs(const bench::ModelInfo& info, int64_t batch) {
  const system::Scratch scratch;
  const bench::InputPool pool(info, batch, scratch.folder());
  return bench::read_input_sets(pool.at_batch(batch, 1)).front();
}

void print_text(const base::PartitionRecord& record) {
  for (const std::string& line : report::partition_text(record)) fmt::print("{}\n", line);
}

void partition(const Options& options) {
  const backend::RunPrecision precision = backend::parse_run_precision(options.precision);
  if (!options.output.empty()) {
    refuse_overwriting(options.output, {options.model});
    base::check_writable(options.output);
    refuse_other_kind(options.output, ".json", "partition");
  }
  const importer::Model model = engine::load_source_model(options.model, options.parameters);
  if (model.graph == nullptr)
    fail_bad_input("{} is a TorchScript archive, whose nodes only libtorch reads: it cannot be split",
                   options.model);
  const bench::ModelInfo info =
      bench::describe_model(model, options.model, parse_named_shapes(options.shapes));

  ProgressDisplay display(kPlainLineSeconds);
  const auto start = base::Clock::now();
  backend::partition::PartitionRequest request;
  request.model = model;
  request.spec = options.model;
  request.options.precision = precision.precision;
  request.options.beside_int8 = precision.beside_int8;
  request.options.device = tensor::place_text(tensor::parse_place(options.device));
  request.options.settings = options.settings;
  request.options.threads = options.threads;
  request.options.only_these_shapes = true;
  request.options.input_shapes = shapes_of(info, options.batch);
  request.backends = options.backends;
  request.min_block_size = options.min_block_size;
  request.excluded = options.excluded;
  request.require_full = options.require_full;
  request.measure = options.measure;
  request.inputs = [&] { return make_inputs(info, options.batch); };
  request.progress = [&](const std::string& doing) {
    display.show({base::seconds_since(start), std::numeric_limits<double>::infinity(), doing});
  };
  const std::optional<std::string> theirs =
      options.dry_run_report.empty()
          ? std::nullopt
          : std::optional(dry_run_text(backend::partition::read_dry_run_report(options.dry_run_report)));
  base::PartitionRecord record =
      speaking_of(options.model, [&] { return backend::partition::find_partition(request); });
  if (theirs) record.notes.push_back(*theirs);
  if (!options.dry_run) request.progress("running it once");
  const double error = options.dry_run ? 0 : backend::partition::check_outputs(request, record);
  display.clear();
  if (!options.output.empty()) base::write_file_atomic(options.output, base::partition_text(record));
  if (options.json) {
    fmt::print("{}", base::partition_text(record));
    return;
  }
  print_text(record);
  fmt::print("\n");
  if (!options.dry_run)
    fmt::print("outputs differ from the reference's by {:.2g} (relative, Euclidean)\n", error);
  if (options.output.empty()) return;
  const std::string device = record.device == "cpu" ? "" : fmt::format(" --device {}", record.device);
  fmt::print("written: {} (hone bench {}{} --partition {} runs it)\n", report::printable(options.output),
             report::printable(options.model), device, report::printable(options.output));
}

}  // namespace

void add_partition_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "partition", "Split a model between backends and show what the transitions cost");
  const auto options = std::make_shared<Options>();
  command->add_option("model", options->model, "A built-in architecture or a model file")->required();
  command
      ->add_option("--backends", options->backends,
                   "Backends by preference; the last one takes what the others refuse")
      ->delimiter(',')
      ->capture_default_str();
  command
      ->add_option("--min-block-size", options->min_block_size,
                   "Least number of nodes in a block, except for the last backend; nodes that only change a "
                   "shape do not count")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30))
      ->capture_default_str();
  command
      ->add_option("--exclude", options->excluded, "Operators that only the last backend may run, as Softmax")
      ->delimiter(',');
  CLI::Option* dry_run =
      command->add_flag("--dry-run", options->dry_run,
                        "Neither build nor run; use times of earlier measurements, else estimates");
  command
      ->add_flag("--measure", options->measure,
                 "Build and time the steps of each backend, then compare all ways to run the model")
      ->excludes(dry_run);
  command->add_flag("--require-full", options->require_full,
                    "Exit with 5 unless the first backend takes the whole model as one block");
  command->add_option("--device", options->device, "Where the model runs: cpu, cuda, cuda:1")
      ->capture_default_str();
  command->add_option("--precision", options->precision, "Precision of every backend, such as fp32 or bf16")
      ->capture_default_str();
  command->add_option("--batch", options->batch, "Batch size")
      ->check(CLI::Range(int64_t{1}, int64_t{65536}))
      ->capture_default_str();
  add_shapes_option(*command, options->shapes);
  add_dim_option(*command, options->parameters);
  add_tensorrt_options(*command, options->settings);
  command->add_option("--threads", options->threads, "Threads of every backend (default: all cores)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--torch-tensorrt-report", options->dry_run_report,
                      "Also show this file, the text of Torch-TensorRT's dry run of the model");
  command->add_flag("--json", options->json, "Print all results as JSON, as -o writes them");
  command->add_option("-o,--output", options->output,
                      "Write the partition to this file, for hone bench --partition and hone report");
  command->callback([options] { partition(*options); });
}

}  // namespace hone::cli
