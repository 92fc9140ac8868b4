// See engine_options.hpp.
#include "cli/engine_options.hpp"

#include "bench/worker/model_info.hpp"
#include "cli/model_options.hpp"
#include "cli/progress_display.hpp"
#include "device/devices.hpp"
#include "tensor/place.hpp"

namespace hone::cli {
namespace {

/// A week; a larger number is probably a typing error.
constexpr double kMostBudgetSeconds = 604800;
/// Seconds between lines of progress if the output is not a terminal.
constexpr double kPlainLineSeconds = 5;

/// Translates other tools' names of a GPU (1, gpu:1, gpu.1) to "cuda:1".
std::string device_name(const std::string& text) {
  const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (number) return "cuda:" + text;
  if (!text.starts_with("gpu")) return text;
  std::string rest = text.substr(3);
  if (rest.starts_with('.')) rest.front() = ':';
  return "cuda" + rest;
}

/// Values of --minShapes, --optShapes and --maxShapes, by input name.
std::map<std::string, engine::ShapeProfile> named_shapes(const EngineOptions& options) {
  std::map<std::string, engine::ShapeProfile> result;
  for (auto& [name, shape] : parse_named_shapes(options.min_shapes)) result[name].min = shape;
  for (auto& [name, shape] : parse_named_shapes(options.opt_shapes)) result[name].opt = shape;
  for (auto& [name, shape] : parse_named_shapes(options.max_shapes)) result[name].max = shape;
  return result;
}

}  // namespace

CLI::Option* add_shapes_option(CLI::App& command, std::vector<std::string>& shapes) {
  return command.add_option("--shapes", shapes,
                            "Shape of an input with open dimensions, as name:1x3x224x224");
}

std::map<std::string, tensor::Shape> parse_named_shapes(const std::vector<std::string>& items) {
  std::map<std::string, tensor::Shape> result;
  for (const std::string& item : items) bench::parse_shapes(item, &result);
  return result;
}

CLI::Option* add_device_option(CLI::App& command, std::string& device) {
  // Normalizes the name as files and tables have it, because the first GPU has two names.
  const auto parse = [](std::string& text) -> std::string {
    try {
      text = tensor::place_text(tensor::parse_place(device_name(text)));
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  };
  return command.add_option("--device", device, "cpu, cuda or, of several GPUs, cuda:1")
      ->transform(CLI::Validator(parse, ""))
      ->capture_default_str();
}

OptionList add_engine_options(CLI::App& command, EngineOptions& options) {
  OptionList all = add_model_options(command, options.request.parameters);
  all.push_back(add_dim_option(command, options.request.parameters));
  const OptionList others = {
      add_device_option(command, options.request.device),
      command.add_option("--portable", options.request.portable,
                         "Build for every CPU with this instruction set, which this CPU must have: AVX2, "
                         "AVX-512, AVX-512-VNNI, AVX-512-BF16 or AMX (default: for CPUs like this one)"),
      command
          .add_option("--precision", options.precision,
                      "fp32 or bf16; on cuda also tf32 and fp16. fp16+fp32: fp16, and fp32 for steps that "
                      "are faster in it. int8: quantizes the model first, as hone quantize does; the rest "
                      "runs in fp32, with int8+bf16 in bf16, with int8+fp16 in fp16")
          ->capture_default_str(),
      command.add_option("--calibrate", options.request.int8.data.sources,
                         "Calibration data for int8: folders, images, .npz or .npy files, or exec:COMMAND "
                         "(docs/QUANTIZE.md)"),
      command.add_option("--calib", options.request.int8.cache,
                         "Calibration cache of hone or TensorRT for int8, instead of data"),
      command.add_option("--minShapes", options.min_shapes,
                         "Smallest input shapes, as input:1x3x224x224[,other:...] (default: --optShapes)"),
      command.add_option("--optShapes", options.opt_shapes,
                         "Input shapes to tune for (default: --maxShapes, else --minShapes; other inputs: "
                         "the model's shape, with batch 1 where it is open)"),
      command.add_option("--maxShapes", options.max_shapes, "Largest input shapes (default: --optShapes)"),
      command.add_option("--bind", options.request.bind,
                         "INPUT=OUTPUT, as past_key_values.*=present.*: caches that each run extends in "
                         "place; --maxShapes of one of them gives their capacity"),
      command
          .add_option("--builderOptimizationLevel", options.request.optimization_level,
                      "Search effort: 0 times nothing, 1 and 2 kernels, 3 kernels, layouts and batch groups, "
                      "4 takes more samples, 5 tries every cuDNN engine")
          ->check(CLI::Range(0, 5))
          ->capture_default_str(),
      command
          .add_option("--builderBudget", options.request.budget_seconds,
                      "Seconds that building may take without calibration; 0: no limit (default: 12, on cuda "
                      "20; no limit at levels 4 and 5)")
          ->check(CLI::Range(0.0, kMostBudgetSeconds)),
      command
          .add_option("--threads", options.request.threads,
                      "Threads to run and tune with (default: all cores)")
          ->check(CLI::Range(1, 1024)),
      command.add_option("--disable-pass", options.request.disabled_passes,
                         "Passes to skip (hone passes lists them)"),
      command.add_option("--timingCacheFile", options.request.cache.file,
                         "Timing cache, a file that tactic times are read from and added to (default: one in "
                         "the user's cache folder)"),
      command.add_flag("--errorOnTimingCacheMiss", options.request.cache.only,
                       "Time nothing; fail when the timing cache lacks a time"),
      command.add_flag("--noTimingCache", options.no_cache, "Neither read nor write the timing cache")
          ->excludes(command.get_option("--timingCacheFile"))
          ->excludes(command.get_option("--errorOnTimingCacheMiss"))};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

std::shared_ptr<engine::Engine> build_from(const EngineOptions& options) {
  backend::BuildRequest request = options.request;
  const std::vector<tensor::Precision> precisions = backend::parse_precisions(options.precision);
  request.precision = precisions.front();
  request.other_precisions.assign(precisions.begin() + 1, precisions.end());
  request.shapes = named_shapes(options);
  request.cache.used = !options.no_cache;
  ProgressDisplay display(kPlainLineSeconds);
  request.progress = [&](const base::Progress& progress) { display.show(progress); };
  return backend::build(backend::resolve(request));
}

}  // namespace hone::cli
