// Checks a request from the cheapest check to the most expensive: numbers, device, cache, then the model.
#include "backend/hone/build_request.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/file.hpp"
#include "device/devices.hpp"
#include "engine/fixed_cache_runs.hpp"
#include "engine/search/search_budget.hpp"
#include "engine/search/timing_cache.hpp"
#include "engine/source_model.hpp"
#include "import/typical_sizes.hpp"
#include "quantize/float_graph.hpp"
#include "system/cpu.hpp"

namespace hone::backend {
namespace {

constexpr int kMaxLevel = 5;
/// The parts of the budget after which the engines with and without int8 must be ready, if the two are
/// compared. The comparison takes the rest.
constexpr double kInt8Part = 0.5;
constexpr double kRivalPart = 0.9;

void check_level(int level) {
  if (level < 0 || level > kMaxLevel)
    fail_usage("optimization_level is {}, outside [0, {}]", level, kMaxLevel);
}

/// Infinite for 0; usage error for an invalid time.
std::optional<double> budget_of(const BuildRequest& request) {
  if (!request.budget_seconds) return std::nullopt;
  const double seconds = *request.budget_seconds;
  if (!(seconds >= 0)) fail_usage("the time to build in is {} seconds", seconds);
  return seconds > 0 ? seconds : engine::SearchBudget::kNoLimit;
}

int threads_of(const BuildRequest& request) {
  check_threads(request.threads);
  return request.threads > 0 ? request.threads : std::clamp(system::usable_cores(), 1, engine::kMaxThreads);
}

/// Checks a cache file that the user named, because a build would open it only after its model.
void check_cache(const BuildRequest& request, const engine::Device& device, int threads) {
  const CachePolicy& cache = request.cache;
  if (!cache.used || cache.file.empty()) return;
  // Level 0 reads no cache.
  const bool reads = request.optimization_level > 0;
  engine::check_cache_file(cache.file, cache.only && reads);
  if (!cache.only) base::check_writable(cache.file);
  if (reads) engine::TimingCache::of_file(cache.file, device.timing_fingerprint(), threads);
}

/// The precisions of nodes in floating point: those of the
/// request without int8. The first one is the engine's own.
std::vector<tensor::Precision> float_precisions(const BuildRequest& request) {
  std::vector<tensor::Precision> result = {request.precision};
  result.insert(result.end(), request.other_precisions.begin(), request.other_precisions.end());
  std::erase(result, tensor::Precision::kInt8);
  if (result.empty()) result.push_back(tensor::Precision::kFp32);
  return result;
}

bool wants_int8(const BuildRequest& request) {
  const auto& others = request.other_precisions;
  return request.precision == tensor::Precision::kInt8 ||
         std::find(others.begin(), others.end(), tensor::Precision::kInt8) != others.end();
}

/// Resolves everything in a build that does not need the model.
ResolvedBuild prepare(const BuildRequest& request) {
  check_level(request.optimization_level);
  const int threads = threads_of(request);
  const std::optional<double> budget = budget_of(request);
  const engine::Device& device = request.portable.empty()
                                     ? device::find_device(request.device)
                                     : device::portable_device(request.device, request.portable);
  const std::vector<tensor::Precision> precisions = float_precisions(request);
  for (const tensor::Precision precision : precisions) {
    // policy_for() fails if the device does not support the precision.
    const engine::NumericPolicy policy = device.policy_for(precision);
    if (!request.portable.empty() && policy.is_emulated())
      fail_usage("CPUs with {} only emulate {}, and others do not: build in fp32, or for AVX-512",
                 request.portable, tensor::precision_name(precision));
  }
  if (!wants_int8(request) && (!request.int8.data.sources.empty() || !request.int8.cache.empty()))
    fail_usage("calibration is for --precision int8, this one is {}",
               tensor::precision_name(request.precision));
  check_cache(request, device, threads);
  ResolvedBuild build{.device = device};
  build.options.precision = precisions.front();
  build.options.other_precisions.assign(precisions.begin() + 1, precisions.end());
  build.options.threads = threads;
  build.options.optimization_level = request.optimization_level;
  build.options.disabled_passes = request.disabled_passes;
  if (request.cache.used) {
    build.options.cache_folder = base::cache_directory();
    build.options.cache_file = request.cache.file;
  }
  build.options.cached_only = request.cache.only;
  build.options.budget_seconds = budget;
  build.options.progress = request.progress;
  return build;
}

/// The first open dimension after the batch; 0 if there is none.
size_t cache_axis(const graph::Value& cache) {
  const size_t rank = cache.type.ranked() ? cache.type.dims->size() : 0;
  for (size_t i = 1; i < rank; ++i) {
    if (!(*cache.type.dims)[i].known()) return i;
  }
  return 0;
}

/// Gives all bound caches the same capacity, and sets the sizes in `shapes` to it. The capacity is the size
/// of a cache in the largest shape that was given for it.
void fix_caches(const BuildRequest& request, std::map<std::string, engine::ShapeProfile>* shapes,
                ResolvedBuild* build) {
  const graph::Graph& graph = *build->graph;
  std::optional<int64_t> capacity;
  std::string example;
  for (const engine::Carry& carry : engine::parse_carries(graph, request.bind)) {
    const graph::Value& cache = graph.value(graph.inputs[carry.input]);
    const size_t axis = cache_axis(cache);
    if (example.empty() && cache.type.ranked())
      example = fmt::format("{}:{}", cache.name, engine::example_shape(*cache.type.dims));
    const auto found = shapes->find(cache.name);
    if (found == shapes->end() || axis == 0) continue;
    engine::ShapeProfile& profile = found->second;
    const engine::Shape& largest = profile.max.empty() ? profile.opt : profile.max;
    if (largest.size() != cache.type.dims->size()) continue;  // other checks refuse this
    const int64_t size = largest[axis];
    if (capacity && *capacity != size)
      fail_usage("--maxShapes gives '{}' a capacity of {}, another cache has {}", cache.name, size,
                 *capacity);
    capacity = size;
    for (engine::Shape* shape : {&profile.min, &profile.opt, &profile.max}) {
      if (shape->size() == cache.type.dims->size()) (*shape)[axis] = size;
    }
  }
  if (!capacity)
    fail_usage("--bind needs the capacity of the caches: give the largest shape of one, as --maxShapes {}",
               example);
  const engine::NumericPolicy policy = build->device.policy_for(build->options.precision);
  build->graph =
      engine::with_fixed_caches(graph, request.bind, *capacity, policy.storage, &build->options.metadata);
}

/// Builds with `seconds` of the budget that began at `begin`.
std::shared_ptr<engine::Engine> build_of(const graph::Graph& graph, const ResolvedBuild& build,
                                         base::Clock::time_point begin, double seconds) {
  engine::BuildOptions options = build.options;
  options.begin = begin;
  options.budget_seconds = seconds;
  try {
    return engine::build_engine(graph, build.device, options);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kBadInput && !error.where().starts_with(build.source))
      throw error.within(build.source);
    throw;
  }
}

void add_cut_short(engine::Engine& engine, const std::string& what) {
  if (!engine.cut_short.empty()) engine.cut_short += "; ";
  engine.cut_short += what;
}

/// True if an engine with int8 may be slower than the corresponding engine in floating point.
bool may_be_slower(const ResolvedBuild& build) {
  return build.int8->floats != nullptr && build.options.optimization_level > 0;
}

/// Builds the model in floating point, instead of an engine that would round its values to integers and
/// multiply none of them. It has fewer steps and no quantization error.
std::shared_ptr<engine::Engine> without_integers(const ResolvedBuild& build, base::Clock::time_point begin,
                                                 const engine::SearchBudget& budget) {
  auto floats = build_of(*build.int8->floats, build, begin, budget.seconds());
  floats->metadata[kQuantizationNote] = fmt::format(
      "computed in {}: int8 in 0.0 % of the multiply-adds would only add conversions on {}; its ranges are "
      "not used ({})",
      engine::policies_text(floats->policies), build.device.name(), build.int8->origin);
  floats->metadata[kInt8Share] = "0";
  floats->build_seconds = base::seconds_since(begin);
  return floats;
}

ResolvedBuild with_model(ResolvedBuild build, const BuildRequest& request, const importer::Model& original) {
  if (original.graph == nullptr)
    fail_bad_input(
        "{} is a TorchScript archive, which cannot be built into an engine; the backend torchscript runs it, "
        "and "
        "PyTorch exports it to ONNX with inputs of your shape: python3 -c 'import torch; "
        "torch.onnx.export(torch.jit.load(\"{}\"), (torch.zeros(1, 3, 224, 224),), \"{}.onnx\", "
        "dynamo=False)'",
        build.source.empty() ? original.name : build.source, original.file.string(), original.name);
  importer::Model model = original;
  if (wants_int8(request)) {
    Int8Model quantized = with_int8(original, request.int8, request.shapes, build.device,
                                    build.options.threads, request.progress);
    model = std::move(quantized.model);
    build.int8 = std::move(quantized.source);
    if (!request.bind.empty()) build.int8->floats = nullptr;  // the caches of `floats` are not fixed
  } else if (!quantize::quantized_part(*model.graph).empty()) {
    build.int8 = Int8Source{kQuantizedByModel, nullptr, false};
  }
  build.graph = model.graph;
  build.options.model = model.name;
  build.options.metadata = model.metadata;
  std::map<std::string, engine::ShapeProfile> shapes = request.shapes;
  if (!request.bind.empty()) fix_caches(request, &shapes, &build);
  build.options.shapes = engine::complete_profiles(*build.graph, shapes, request.open_dims, 1,
                                                   importer::typical_sizes(model.metadata));
  return build;
}

}  // namespace

ResolvedBuild resolve(const BuildRequest& request) {
  ResolvedBuild build = prepare(request);
  build.source = request.model;
  return with_model(std::move(build), request, engine::load_source_model(request.model, request.parameters));
}

ResolvedBuild resolve(const BuildRequest& request, const importer::Model& model) {
  return with_model(prepare(request), request, model);
}

std::shared_ptr<engine::Engine> build(const ResolvedBuild& build) {
  const auto begin = build.options.begin.value_or(base::Clock::now());
  const engine::SearchBudget budget(engine::build_budget(build.options, build.device).seconds(), begin);
  const bool has_rival = build.int8 && build.int8->is_asked_for && may_be_slower(build);
  auto engine = build_of(*build.graph, build, begin, budget.seconds() * (has_rival ? kInt8Part : 1));
  if (!build.int8) return engine;
  const Int8Shares shares = int8_shares(engine, build.device, *build.graph);
  const Int8Source& source = *build.int8;
  // Integers that were not requested are not a precision of the engine; its metadata report them.
  if (!source.is_asked_for) {
    if (shares.executed > 0) {
      engine->metadata[kOwnQuantizationNote] = int8_note(shares, source.origin, build.device.name());
      engine->metadata[kInt8Share] = fmt::format("{}", shares.executed);
    }
    return engine;
  }
  engine->metadata[kQuantizationNote] = int8_note(shares, source.origin, build.device.name());
  engine->metadata[kInt8Share] = fmt::format("{}", shares.executed);
  if (shares.executed == 0 && source.floats != nullptr) return without_integers(build, begin, budget);
  if (!has_rival) return engine;
  if (budget.is_over()) {
    add_cut_short(*engine, "no engine without int8 was built to compare it with");
    return engine;
  }
  auto floats = build_of(*source.floats, build, begin, budget.seconds() * kRivalPart);
  const RunTimes times = compare_engines(engine, floats, build.device, budget);
  const double seconds = base::seconds_since(begin);
  engine->build_seconds = seconds;
  floats->build_seconds = seconds;
  // A smaller difference is noise.
  constexpr double kClearly = 0.99;
  if (times.second_ms >= kClearly * times.first_ms) {
    engine->metadata[kQuantizationNote] +=
        fmt::format("; {:.3f} ms as a whole, {:.3f} ms in {} only", times.first_ms, times.second_ms,
                    engine::policies_text(floats->policies));
    if (!floats->cut_short.empty())
      add_cut_short(*engine, fmt::format("in the engine without int8, in {}: {}",
                                         engine::policies_text(floats->policies), floats->cut_short));
    return engine;
  }
  floats->metadata[kQuantizationNote] = fmt::format(
      "computed in {}, which is faster as a whole: {:.3f} ms, with int8 in {:.1f} % of the "
      "multiply-adds {:.3f} ms; {}",
      engine::policies_text(floats->policies), times.second_ms, 100 * shares.executed, times.first_ms,
      source.origin);
  floats->metadata[kInt8Share] = "0";
  if (!engine->cut_short.empty())
    add_cut_short(*floats, fmt::format("in the engine with int8: {}", engine->cut_short));
  return floats;
}

std::vector<tensor::Precision> parse_precisions(std::string_view names) {
  std::vector<tensor::Precision> precisions;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find('+', begin), names.size());
    const tensor::Precision precision = tensor::parse_precision(names.substr(begin, end - begin));
    if (std::find(precisions.begin(), precisions.end(), precision) != precisions.end())
      fail_usage("precision {} is named twice in '{}'", tensor::precision_name(precision), names);
    precisions.push_back(precision);
    begin = end + 1;
  }
  return precisions;
}

void check_threads(int threads) {
  if (threads < 0) fail_usage("threads is {}", threads);
  if (threads > engine::kMaxThreads)
    fail_usage("threads is {}, the limit is {}", threads, engine::kMaxThreads);
}

}  // namespace hone::backend
