// See engine_options.hpp.
#include "cli/engine_options.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <map>
#include <thread>

#include "backend/backend.hpp"
#include "backend/hone/hone_backend.hpp"
#include "base/file.hpp"
#include "bench/worker/model_info.hpp"
#include "cli/model_argument.hpp"
#include "cli/progress_display.hpp"
#include "device/devices.hpp"
#include "engine/complete_profiles.hpp"
#include "engine/search/search_budget.hpp"
#include "engine/search/timing_cache.hpp"

namespace hone::cli {
namespace {

/// A week: more is a slip of the keyboard.
constexpr double kMostBudgetSeconds = 604800;
/// Without a terminal, one line of progress in this time.
constexpr double kPlainLineSeconds = 5;

/// An open batch is 1; usage error where more is open, since an engine for other dimensions of 1 is of no
/// use.
tensor::Shape default_shape(const graph::Value& input) {
  if (!input.type.ranked())
    fail_usage("input '{}' has no known rank; name its shape with --optShapes", input.name);
  const graph::Dims& dims = *input.type.dims;
  tensor::Shape shape;
  for (const graph::Dim& dim : dims) {
    if (!dim.known() && !shape.empty())
      fail_usage(
          "dimension {} ('{}') of input '{}' is open: give --optShapes {}:{} (for a range --minShapes and "
          "--maxShapes)",
          shape.size(), dim.text(), input.name, input.name, engine::example_shape(dims));
    shape.push_back(dim.known() ? dim.value() : 1);
  }
  return shape;
}

/// Ranges for every input: what is named, and the model's own dimensions for the rest.
std::map<std::string, engine::ShapeProfile> profiles(const graph::Graph& graph,
                                                     const EngineOptions& options) {
  const auto min = parse_named_shapes(options.min_shapes);
  const auto opt = parse_named_shapes(options.opt_shapes);
  const auto max = parse_named_shapes(options.max_shapes);
  std::vector<std::string> names;
  for (const graph::ValueId id : graph.inputs) names.push_back(graph.value(id).name);
  std::map<std::string, engine::ShapeProfile> result;
  for (const auto* shapes : {&min, &opt, &max}) {
    for (const auto& item : *shapes) {
      if (std::find(names.begin(), names.end(), item.first) == names.end())
        fail_usage("the model has no input named '{}', its inputs are {}", item.first,
                   fmt::join(names, ", "));
      // What is not named follows from what is: opt from max, min and max from opt.
      const auto find = [&](const auto& named, const tensor::Shape& fallback) {
        const auto found = named.find(item.first);
        return found == named.end() ? fallback : found->second;
      };
      const tensor::Shape best = find(opt, find(max, item.second));
      result[item.first] = {find(min, best), best, find(max, best)};
    }
  }
  for (const graph::ValueId id : graph.inputs) {
    const graph::Value& input = graph.value(id);
    if (result.contains(input.name)) continue;
    const tensor::Shape shape = default_shape(input);
    result[input.name] = {shape, shape, shape};
  }
  return result;
}

}  // namespace

CLI::Option* add_shapes_option(CLI::App& command, std::vector<std::string>& shapes) {
  return command.add_option("--shapes", shapes, "Dimensions a model leaves open: name:1x3x224x224");
}

std::map<std::string, tensor::Shape> parse_named_shapes(const std::vector<std::string>& items) {
  std::map<std::string, tensor::Shape> result;
  for (const std::string& item : items) bench::parse_shapes(item, &result);
  return result;
}

CLI::Option* add_device_option(CLI::App& command, std::string& device) {
  return command.add_option("--device", device, "cpu or cuda")
      ->check(CLI::IsMember(device::device_names()))
      ->capture_default_str();
}

OptionList add_engine_options(CLI::App& command, EngineOptions& options) {
  return {
      add_device_option(command, options.device),
      command.add_option("--precision", options.precision, "fp32, bf16; on cuda also tf32, fp16")
          ->capture_default_str(),
      command.add_option("--minShapes", options.min_shapes,
                         "Smallest input shapes, input:1x3x224x224[,other:…] (default: those to tune for)"),
      command.add_option(
          "--optShapes", options.opt_shapes,
          "Input shapes to tune for (default: the largest that are named, else the smallest; "
          "for inputs that are not named the model's own, with a batch of 1 where it is open)"),
      command.add_option("--maxShapes", options.max_shapes,
                         "Largest input shapes (default: those to tune for)"),
      command
          .add_option(
              "--builderOptimizationLevel", options.level,
              "0: time nothing … 3: time tactics, layouts and batch groups, 4: with more samples, 5: on cuda "
              "with every engine and knob of cuDNN")
          ->check(CLI::Range(0, 5))
          ->capture_default_str(),
      command
          .add_option(
              "--builderBudget", options.budget,
              "Seconds that timing tactics may take, 0: as long as it takes (default: 12, on cuda 20; at "
              "levels 4 and 5 as long as it takes)")
          ->check(CLI::Range(0.0, kMostBudgetSeconds)),
      command
          .add_option("--threads", options.threads, "Threads to run and tune with (default: all processors)")
          ->check(CLI::Range(1, 1024)),
      command.add_option("--weights", options.weights,
                         "Parameters of a built-in architecture, a .safetensors file"),
      command.add_option("--seed", options.seed, "Seed of the parameters when no file gives them")
          ->capture_default_str(),
      command.add_option("--disable-pass", options.disabled_passes,
                         "Passes to leave out, by name (hone passes lists them)"),
      command.add_option(
          "--timingCacheFile", options.cache_file,
          "File that tactic times are read from and added to (default: one in the user's cache folder)"),
      command.add_flag("--errorOnTimingCacheMiss", options.cached_only,
                       "Time nothing: fail when the timing cache lacks anything"),
      command.add_flag("--noTimingCache", options.no_cache, "Neither read nor write tactic times")
          ->excludes(command.get_option("--timingCacheFile"))
          ->excludes(command.get_option("--errorOnTimingCacheMiss"))};
}

namespace {

/// What is wrong with a cache that was named, before a model is loaded that has nothing to do with it.
void check_cache(const EngineOptions& options, int threads) {
  if (options.cache_file.empty()) return;
  // Level 0 reads none.
  const bool reads = options.level > 0;
  engine::check_cache_file(options.cache_file, options.cached_only && reads);
  if (!options.cached_only) base::check_writable(options.cache_file);
  if (!reads) return;
  const engine::Device& device = device::find_device(options.device);
  engine::TimingCache::of_file(options.cache_file, device.timing_fingerprint(), threads);
}

}  // namespace

std::shared_ptr<engine::Engine> build_from(const EngineOptions& options) {
  const int threads = options.threads > 0
                          ? options.threads
                          : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  check_cache(options, threads);
  const importer::Model model =
      load_given_model(options.model, {.weights = options.weights, .seed = options.seed});
  backend::LoadOptions load;
  load.device = options.device;
  load.precision = backend::parse_precision(options.precision);
  load.threads = threads;
  load.optimization_level = options.level;
  load.disabled_passes = options.disabled_passes;
  if (model.graph == nullptr)
    fail_bad_input("{} is a TorchScript archive, which cannot be built into an engine", options.model);
  engine::BuildOptions build = backend::build_options(model, load);
  build.shapes = profiles(*model.graph, options);
  if (options.no_cache) build.cache_folder.clear();
  build.cache_file = options.cache_file;
  build.cached_only = options.cached_only;
  if (options.budget)
    build.budget_seconds = *options.budget > 0 ? *options.budget : engine::SearchBudget::kNoLimit;
  ProgressDisplay display(kPlainLineSeconds);
  build.progress = [&](const base::Progress& progress) { display.show(progress); };
  return speaking_of(options.model, [&] {
    return engine::build_engine(*model.graph, device::find_device(options.device), build);
  });
}

}  // namespace hone::cli
