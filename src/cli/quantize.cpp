// `hone quantize`: converts a model to int8 with calibration data, and writes it as ONNX with Q/DQ nodes.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>

#include "backend/hone/calibration_runner.hpp"
#include "backend/hone/node_times.hpp"
#include "base/file.hpp"
#include "cli/command.hpp"
#include "cli/image_options.hpp"
#include "cli/model_options.hpp"
#include "cli/option_checks.hpp"
#include "cli/progress_display.hpp"
#include "cli/quantize_tables.hpp"
#include "cli/terminal.hpp"
#include "engine/source_model.hpp"
#include "import/onnx/export.hpp"
#include "quantize/quantize.hpp"
#include "quantize/report.hpp"
#include "quantize/tensorrt_cache.hpp"
#include "report/terminal/sheet.hpp"
#include "system/cpu.hpp"
#include "system/interruption.hpp"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kPlainLineSeconds = 5;
constexpr int kOldestOpset = 17;
/// Default number of samples on which the result is judged; more are used if a decision depends on them.
constexpr int64_t kJudged = 32;
constexpr int64_t kJudgedForBudget = 512;

struct Options {
  std::string model;
  importer::LoadModelOptions load;
  std::vector<std::string> data;
  std::string cache;
  std::string output;
  std::string cache_format = "hone";
  int tensorrt_version = 8601;
  std::string calibrator = "auto";
  double percentile = quantize::CalibratorOptions().percentile;
  int64_t samples = 0;
  std::string target = "portable";
  std::optional<int> opset;
  bool no_bias_correction = false;
  bool no_equalization = false;
  std::string rounding = "nearest";
  std::string budget;
  std::string labels;
  std::vector<std::string> evaluation;
  std::optional<int64_t> accuracy_samples;
  std::string report;
  size_t rows = 20;
  int threads = system::usable_cores();
  ImageOptions images;
  OptionList for_calibrating;
  const CLI::Option* version_option = nullptr;
};

std::optional<quantize::Calibrator> calibrator_of(const std::string& name) {
  for (const quantize::Calibrator calibrator : quantize::kCalibrators) {
    if (quantize::calibrator_name(calibrator) == name) return calibrator;
  }
  return std::nullopt;
}

fs::path beside(const std::string& output, const char* extension) {
  return fs::path(output).replace_extension(extension);
}

/// Parses "1%" to 0.01.
std::optional<double> budget_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  double percent = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  std::string_view unit(end, text.data() + text.size());
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const bool good = error == std::errc() && unit == "%" && percent >= 0 && percent <= 100;
  if (!good) fail_usage("--accuracy-budget {}: give 0% to 100%, such as 1%", text);
  return percent / 100;
}

void check_judging(const Options& options) {
  const bool judged = !options.data.empty() || !options.evaluation.empty();
  if (budget_of(options.budget) && !judged)
    fail_usage("--accuracy-budget needs samples to judge by: give --evaluate with data as well as --calib");
  if (!options.labels.empty() && !judged)
    fail_usage("--labels are of samples: give --evaluate with data as well as --calib");
  if (options.report.empty()) return;
  std::vector<std::string> others = options.data;
  others.insert(others.end(), options.evaluation.begin(), options.evaluation.end());
  others.insert(others.end(),
                {options.model, options.load.weights.string(), options.cache, options.labels, options.output,
                 beside(options.output, ".calib.json"), beside(options.output, ".calib.cache")});
  refuse_overwriting(options.report, others);
  base::check_writable(options.report);
}

void check(const Options& options) {
  if (options.data.empty() == options.cache.empty())
    fail_usage("give either --calibrate with data or --calib with a calibration cache");
  if (!options.cache.empty())
    refuse_given(options.for_calibrating, "is for --calibrate, --calib reads no data");
  if (calibrator_of(options.calibrator) && quantize::is_tensorrt_cache(options.cache))
    fail_usage("--calibrator {}: a cache of TensorRT holds ranges and nothing to choose them from",
               options.calibrator);
  if (options.rounding == "gptq" && options.data.empty())
    fail_usage("--rounding gptq looks at what layers read: give --calibrate with data");
  if (options.cache_format != "tensorrt")
    refuse_given({options.version_option}, "is for --calib-format tensorrt");
  std::vector<std::string> inputs = options.data;
  inputs.insert(inputs.end(), options.evaluation.begin(), options.evaluation.end());
  inputs.insert(inputs.end(), {options.model, options.load.weights.string(), options.cache, options.labels});
  refuse_overwriting(options.output, inputs);
  base::check_writable(options.output);
  refuse_other_kind(options.output, ".onnx", "model");
  if (!options.data.empty()) {
    refuse_overwriting(beside(options.output, ".calib.json"), inputs);
    base::check_writable(beside(options.output, ".calib.json"));
  }
  if (options.cache_format == "tensorrt") {
    refuse_overwriting(beside(options.output, ".calib.cache"), inputs);
    base::check_writable(beside(options.output, ".calib.cache"));
  }
  check_judging(options);
}

/// `fitted` receives the side of the square to which images are resized by default, and must outlive the
/// data.
quantize::DataOptions data_from(const Options& options, const std::vector<std::string>& sources,
                                const importer::Metadata& metadata, int64_t limit, int64_t* fitted) {
  quantize::DataOptions data;
  data.sources = sources;
  data.preprocessing = preprocessing_for(options.images, metadata);
  data.image_metadata = with_image_options(options.images, {});
  data.layout = layout_for(options.images);
  data.limit = limit;
  data.on_fitted = [fitted](int64_t side) { *fitted = side; };
  return data;
}

/// Returns the device on which the steps for a target are timed.
std::string device_of(const std::string& target) {
  return target == "cuda" || target == "tensorrt" ? "cuda" : "cpu";
}

quantize::QuantizeOptions quantize_options(const Options& options, const importer::Metadata& metadata,
                                           ProgressDisplay& display, int64_t* fitted) {
  quantize::QuantizeOptions result;
  result.target = quantize::parse_target(options.target);
  result.calibrator = calibrator_of(options.calibrator);
  result.calibrator_options.percentile = options.percentile;
  result.bias_correction = !options.no_bias_correction;
  result.equalize = !options.no_equalization;
  result.gptq = options.rounding == "gptq";
  result.every_tensor = options.cache_format == "tensorrt";
  result.threads = options.threads;
  result.progress = [&display](const base::Progress& progress) { display.show(progress); };
  result.stop = &system::interruption();
  result.budget = budget_of(options.budget);
  const bool decides = result.budget || !options.labels.empty();
  result.judge.samples = options.accuracy_samples.value_or(decides ? kJudgedForBudget : kJudged);
  if (!options.labels.empty()) result.judge.labels = quantize::read_labels(options.labels);
  if (!options.evaluation.empty())
    result.judge.data =
        data_from(options, options.evaluation, metadata, options.accuracy_samples.value_or(0), fitted);
  result.time_nodes = backend::node_timer(device_of(options.target), options.threads, result.progress);
  return result;
}

/// Uses the lowest opset that has all of the model's operators, unless the user chose one.
int write_model(const Options& options, const graph::Graph& graph, const importer::Metadata& metadata,
                uint64_t* bytes) {
  for (int opset = options.opset.value_or(kOldestOpset);; ++opset) {
    try {
      const auto written = importer::export_onnx(options.output, graph, opset, metadata);
      *bytes = written.model + written.external;
      return opset;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kBadInput || options.opset || opset == importer::kMaxExportOpset) throw;
    }
  }
}

void print_calibration(const quantize::Calibration& calibration, int64_t left_over) {
  const quantize::Convergence convergence = quantize::convergence_of(calibration);
  fmt::print("calibrated with {} samples", calibration.samples);
  if (left_over > 0) fmt::print(" ({} more were too few for the model's batch)", left_over);
  if (convergence.settled()) {
    fmt::print("; converged: the last quarter raised no range by more than {:.1f} %\n",
               100 * convergence.most);
    return;
  }
  fmt::print(
      "; not converged: the last quarter raised {} of {} ranges by more than {:.0f} %, that of '{}' by "
      "{:.0f} %: "
      "more samples would help\n",
      convergence.growing, calibration.tensors.size(), 100 * quantize::Convergence::kSettled,
      report::printable(convergence.tensor), 100 * convergence.most);
}

void print(const report::Sheet& sheet, size_t rows) {
  for (const std::string& line : report::sheet_text(sheet, terminal_style(rows))) fmt::print("{}\n", line);
  fmt::print("\n");
}

/// The two figures differ because they are of other samples and, with a budget, of other layers in int8.
void print_errors(const Options& options, const quantize::Calibration& calibration,
                  const quantize::Quantized& result, const quantize::Report& report) {
  if (!result.errors.empty()) {
    std::string line;
    for (const quantize::WholeError& error : result.errors)
      line += fmt::format("{}{} {:.3f} %", line.empty() ? "" : ", ", error.name, 100 * error.error);
    const int64_t samples = std::min(calibration.samples, quantize::QuantizeOptions().selection_samples);
    fmt::print(
        "to choose the ranges, relative error at the outputs on the first {} sample{}, by calibrator; "
        "the first is used: {}\n",
        samples, samples == 1 ? "" : "s", line);
  }
  if (!report.accuracy) return;
  fmt::print("the written model against fp32 on {} {}samples: {}\n", report.accuracy->samples,
             options.evaluation.empty() ? "of the " : "held-out ", accuracy_text(*report.accuracy));
}

void print_result(const Options& options, const quantize::Calibration& calibration,
                  const quantize::Quantized& result, const quantize::Report& report) {
  if (result.budget) {
    print(layers_sheet(report), options.rows);
    print(front_sheet(report), options.rows);
  }
  const quantize::Placement& placement = result.placement;
  const size_t products = placement.weighted.size() + placement.kept.size();
  fmt::print("{} of {} convolutions and matrix products in int8, {:.1f} % of their multiply-adds\n",
             placement.weighted.size(), products, 100 * placement.int8_share);
  for (const std::string& line : kept_lines(placement.kept)) fmt::print("{}\n", report::printable(line));
  print_errors(options, calibration, result, report);
}

/// Checks the budget only after all files were written.
void check_budget(const quantize::Report& report) {
  if (report.met.value_or(true) || !report.accuracy) return;
  throw Error(
      ErrorKind::kThreshold,
      fmt::format("no model with a layer in int8 loses at most {:.3g} %: the best one, which was written, "
                  "loses {:.3g} %",
                  100 * report.budget.value_or(0), 100 * report.accuracy->loss));
}

void write_tensorrt(const Options& options, const quantize::Calibration& calibration,
                    const quantize::Quantized& result) {
  const fs::path file = beside(options.output, ".calib.cache");
  quantize::write_for_tensorrt(file, calibration, result.ranges, options.tensorrt_version);
  fmt::print("{}: a calibration cache of TensorRT, {} tensors\n", file.string(), result.ranges.size());
}

void run(const Options& options) {
  check(options);
  const system::Interruptible interruptible;
  const importer::Model model = engine::load_source_model(options.model, options.load);
  if (model.graph == nullptr)
    fail_bad_input("{} is a TorchScript archive, which cannot be quantized: export it as ONNX",
                   options.model);
  const quantize::Subject subject =
      speaking_of(options.model, [&] { return quantize::prepare(*model.graph); });
  quantize::CachedCalibration cached;
  if (options.data.empty()) cached = quantize::calibration_from(options.cache, subject);
  // The quantized model must convert images to its input as the calibration did.
  importer::Metadata metadata = with_image_options(options.images, model.metadata);
  for (const auto& [key, value] : cached.calibration.image_metadata) metadata[key] = value;
  ProgressDisplay display(kPlainLineSeconds);
  int64_t fitted = 0;
  const quantize::QuantizeOptions how = quantize_options(options, metadata, display, &fitted);
  const auto make_runner = backend::engine_runners(options.threads);
  const fs::path cache_file = beside(options.output, ".calib.json");
  const quantize::DataOptions data = data_from(options, options.data, metadata, options.samples, &fitted);
  quantize::check_judged(subject, options.data.empty() ? nullptr : &data, how);
  int64_t left_over = 0;
  if (!options.data.empty())
    cached.calibration = quantize::calibrate(subject, data, cache_file, make_runner, how, &left_over);
  const quantize::Quantized result = quantize::quantize(
      subject, cached.calibration, cached.ranges, options.data.empty() ? nullptr : &data, make_runner, how);
  cached.ranges = result.ranges;
  display.clear();
  note_fitted(fitted);
  uint64_t bytes = 0;
  const int opset = write_model(options, result.graph, metadata, &bytes);
  if (!options.data.empty()) {
    quantize::write_calibration(cache_file, cached);
    print_calibration(cached.calibration, left_over);
  }
  if (!cached.calibration.equalization.empty())
    fmt::print("equalized: the channels of {} values, which lowers the error at the outputs\n",
               cached.calibration.equalization.size());
  const quantize::Report report =
      quantize::report_of(subject, cached.calibration, result, how.budget, options.model, options.target);
  if (!options.report.empty())
    base::write_file_atomic(
        options.report,
        base::described_json(report).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  print_result(options, cached.calibration, result, report);
  fmt::print("{}: {:.2f} MB, opset {}, for {}\n", options.output, static_cast<double>(bytes) / 1e6, opset,
             options.target);
  if (!options.data.empty()) fmt::print("{}: the calibration cache\n", cache_file.string());
  if (options.cache_format == "tensorrt") write_tensorrt(options, cached.calibration, result);
  check_budget(report);
}

}  // namespace

void add_quantize_command(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("quantize", "Calibrate a model and write it as ONNX with int8 (Q/DQ)");
  const auto options = std::make_shared<Options>();
  command->add_option("model", options->model, "An ONNX file or the name of a built-in architecture")
      ->required();
  command->add_option("--calibrate", options->data,
                      "Calibration data: folders, images, .npz or .npy files, or exec:COMMAND, a program "
                      "that writes such files (docs/QUANTIZE.md)");
  command->add_option("--calib", options->cache, "Calibration cache of hone or TensorRT, instead of data");
  command
      ->add_option("-o,--output", options->output,
                   "The ONNX file to write; the calibration cache goes into the same folder, as .calib.json")
      ->required();
  command
      ->add_option("--calib-format", options->cache_format,
                   "tensorrt also writes a cache for TensorRT, as .calib.cache")
      ->check(CLI::IsMember({"hone", "tensorrt"}))
      ->capture_default_str();
  options->version_option = command
                                ->add_option("--calib-version", options->tensorrt_version,
                                             "TensorRT's version in the first line of that cache")
                                ->check(CLI::Range(1000, 999999))
                                ->capture_default_str();
  command
      ->add_option(
          "--calibrator", options->calibrator,
          "minmax, percentile, entropy, mse; auto: for each tensor the one with the least error at the "
          "outputs")
      ->check(CLI::IsMember({"auto", "minmax", "percentile", "entropy", "mse"}))
      ->capture_default_str();
  const CLI::Option* samples =
      command->add_option("--samples", options->samples, "Samples to use (default: all)")
          ->check(CLI::Range(1, 100000000));
  command
      ->add_option("--percentile", options->percentile,
                   "Share of the values that percentile keeps, in percent")
      ->check(finite_range(50, 100))
      ->capture_default_str();
  command
      ->add_option(
          "--target", options->target,
          "Kernels that the result is for. portable: int8 with zero points 0; cpu, cuda: uint8 where values "
          "are not negative, and on the cpu other zero points; tensorrt: biases in float32")
      ->check(CLI::IsMember({"portable", "cpu", "cuda", "tensorrt"}))
      ->capture_default_str();
  command
      ->add_option("--opset", options->opset,
                   "Version of the operators, 13 to 22 (default: the first from 17 on that has all of them)")
      ->check(CLI::Range(importer::kMinExportOpset, importer::kMaxExportOpset));
  command->add_flag("--no-bias-correction", options->no_bias_correction,
                    "Do not correct biases for the shift that rounded weights cause");
  command->add_flag("--no-equalization", options->no_equalization,
                    "Do not equalize channels, even where it measurably helps");
  command
      ->add_option("--rounding", options->rounding,
                   "nearest, or gptq, which rounds weights so that the layer's outputs change least and "
                   "takes minutes for large layers")
      ->check(CLI::IsMember({"nearest", "gptq"}))
      ->capture_default_str();
  command->add_option("--accuracy-budget", options->budget,
                      "Keep layers in floating point until the loss is at most this, such as 1%: labels that "
                      "fp32 gets right, without labels top-1 classes, for other outputs the relative error. "
                      "Exit with 5 where it cannot be met");
  command->add_option(
      "--labels", options->labels,
      "True classes of the samples that accuracy is measured on: .npy, .npz or text (docs/QUANTIZE.md)");
  command->add_option(
      "--evaluate", options->evaluation,
      "Samples to measure the accuracy on, given as for --calibrate (default: those of --calibrate)");
  command
      ->add_option("--accuracy-samples", options->accuracy_samples,
                   "Number of these samples to use (default: 32; with a budget or labels 512)")
      ->check(CLI::Range(1, 100000000));
  command->add_option(
      "--report", options->report,
      "Write each layer's range, clipping, histogram and, with a budget, error and times to this JSON file");
  command->add_option("--rows", options->rows, "Rows to show of a table; 0 for all")->capture_default_str();
  command->add_option("--threads", options->threads, "Threads to calibrate with")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  add_model_options(*command, options->load);
  options->for_calibrating = add_image_options(*command, options->images);
  options->for_calibrating.push_back(samples);
  command->callback([options] { run(*options); });
}

}  // namespace hone::cli
