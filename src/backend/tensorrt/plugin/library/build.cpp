// See build.hpp.
#include "backend/tensorrt/plugin/library/build.hpp"

#include <algorithm>
#include <cctype>

#include "backend/tensorrt/plugin/library/calibrator.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"
#include "graph/infer.hpp"

namespace hone::backend::tensorrt {
namespace {

using nvinfer1::BuilderFlag;
using nvinfer1::IBuilderConfig;

#if NV_TENSORRT_MAJOR < 11
struct Flags {
  bool fp16 = false;
  bool bf16 = false;
  bool int8 = false;
};

Flags flags_for(const LoadOptions& options) {
  Flags flags;
  flags.int8 = options.precision == Precision::kInt8;
  const Precision floating = flags.int8 ? options.beside_int8 : options.precision;
  flags.fp16 = floating == Precision::kFp16;
  flags.bf16 = floating == Precision::kBf16;
  return flags;
}
#endif

nvinfer1::Dims to_dims(const tensor::Shape& shape) {
  nvinfer1::Dims dims{};
  if (shape.size() > static_cast<size_t>(nvinfer1::Dims::MAX_DIMS))
    fail_bad_input("TensorRT takes tensors of {} axes at most, not {}",
                   static_cast<int>(nvinfer1::Dims::MAX_DIMS), shape.size());
  dims.nbDims = static_cast<int32_t>(shape.size());
  for (size_t i = 0; i < shape.size(); ++i)
    dims.d[i] = static_cast<std::remove_reference_t<decltype(dims.d[0])>>(shape[i]);
  return dims;
}

bool is_open(const nvinfer1::Dims& dims) {
  return std::any_of(dims.d, dims.d + std::max(dims.nbDims, 0), [](auto dim) { return dim < 0; });
}

/// One build, from the network to the serialized plan.
class Build {
 public:
  Build(Library& library, const Gpu& gpu, const Source& source, const LoadOptions& options,
        const Settings& settings)
      : library_(library), gpu_(gpu), source_(source), options_(options), settings_(settings) {
    builder_ = library_.make_builder();
    if (settings_.threads > 0) builder_->setMaxThreads(settings_.threads);
    network_.reset(builder_->createNetworkV2(network_flags(settings_.strong)));
    if (network_ == nullptr)
      fail_environment("TensorRT makes no network: {}", library_.logger().take_errors());
    parse();
    config_.reset(builder_->createBuilderConfig());
    if (config_ == nullptr)
      fail_environment("TensorRT makes no builder: {}", library_.logger().take_errors());
    configure();
    add_profiles();
    start_calibration();
  }

  std::string run() {
    const std::filesystem::path cache_file = timing_cache_path();
    const std::string cached = settings_.timing_cache && std::filesystem::exists(cache_file)
                                   ? base::read_file(cache_file)
                                   : std::string();
    // A cache of another version or GPU is refused, and the times are measured again.
    std::unique_ptr<nvinfer1::ITimingCache> cache(config_->createTimingCache(cached.data(), cached.size()));
    if (cache == nullptr) cache.reset(config_->createTimingCache(nullptr, 0));
    if (cache != nullptr) config_->setTimingCache(*cache, /*ignoreMismatch=*/false);
    library_.logger().take_errors();
    const std::unique_ptr<nvinfer1::IHostMemory> plan(builder_->buildSerializedNetwork(*network_, *config_));
    finish_calibration();
    if (plan == nullptr || plan->size() == 0) fail_build();
    if (cache != nullptr && settings_.timing_cache) keep(cache.get(), cache_file);
    return {static_cast<const char*>(plan->data()), plan->size()};
  }

 private:
  void parse() {
    parser_ = library_.make_parser(*network_);
    const auto errors_only = static_cast<int>(nvinfer1::ILogger::Severity::kERROR);
    if (parser_->parseFromFile(source_.file().c_str(), errors_only)) return;
    for (int i = 0; i < parser_->getNbErrors(); ++i) {
      const nvonnxparser::IParserError& error = *parser_->getError(i);
      const int node = error.node();
      const bool named = node >= 0 && static_cast<size_t>(node) < source_.graph().nodes.size();
      fail_bad_input("TensorRT {} does not take {}: {}", library_.version(),
                     named ? source_.graph().nodes[static_cast<size_t>(node)].text() : "the model",
                     error.desc() == nullptr ? "it did not say why" : error.desc());
    }
    fail_bad_input("TensorRT {} does not take the model: {}", library_.version(),
                   library_.logger().take_errors());
  }

  void configure() {
    if (settings_.workspace)
      config_->setMemoryPoolLimit(nvinfer1::MemoryPoolType::kWORKSPACE,
                                  static_cast<size_t>(*settings_.workspace));
    config_->setBuilderOptimizationLevel(settings_.level);
    config_->setProfilingVerbosity(nvinfer1::ProfilingVerbosity::kDETAILED);
    if (!settings_.tactics.empty()) config_->setTacticSources(tactic_mask(settings_.tactics));
    // TF32 is on by default in every major version.
    const bool float32 = options_.precision == Precision::kFp32 ||
                         (options_.precision == Precision::kInt8 && options_.beside_int8 == Precision::kFp32);
    if (float32) config_->clearFlag(BuilderFlag::kTF32);
    if (!float32) config_->setFlag(BuilderFlag::kTF32);
#if NV_TENSORRT_MAJOR < 10
    // Contexts of overlapping runs share one profile.
    config_->setPreviewFeature(nvinfer1::PreviewFeature::kPROFILE_SHARING_0806, true);
    // By default, 8.6 lets only plugins use these libraries, even if they are among the sources.
    if (names_external_library(settings_.tactics))
      config_->setPreviewFeature(nvinfer1::PreviewFeature::kDISABLE_EXTERNAL_TACTIC_SOURCES_FOR_CORE_0805,
                                 false);
#endif
#if NV_TENSORRT_MAJOR < 11
    if (settings_.strong) return;
    const Flags flags = flags_for(options_);
    if (flags.int8) config_->setFlag(BuilderFlag::kINT8);
    if (flags.fp16) config_->setFlag(BuilderFlag::kFP16);
#if NV_TENSORRT_MAJOR >= 10
    if (flags.bf16) config_->setFlag(BuilderFlag::kBF16);
#endif
#endif
  }

  /// Starts the calibration with runs of the first profile's shapes.
  void start_calibration() {
#if NV_TENSORRT_MAJOR < 11
    if (settings_.calibrator == Calibrator::kHone) return;
    if (!settings_.calibration_output.empty()) base::check_writable(settings_.calibration_output);
    calibrated_ = graph::with_input_shapes(source_.graph(), source_.profiles().front());
    calibration_ = make_calibration(calibrated_, source_.calibration_data(), settings_);
    config_->setInt8Calibrator(calibration_->calibrator());
    if (first_profile_ != nullptr) config_->setCalibrationProfile(first_profile_);
#endif
  }

  void finish_calibration() {
#if NV_TENSORRT_MAJOR < 11
    if (calibration_ == nullptr) return;
    calibration_->rethrow();
    if (settings_.calibration_output.empty()) return;
    if (calibration_->written_cache().empty())
      fail_environment("TensorRT {} wrote no calibration cache: {}", library_.version(),
                       library_.logger().take_errors());
    base::write_file_atomic(settings_.calibration_output, calibration_->written_cache());
#endif
  }

  void add_profiles() {
    for (const auto& shapes : source_.profiles()) {
      nvinfer1::IOptimizationProfile* profile = builder_->createOptimizationProfile();
      bool any = false;
      for (int i = 0; i < network_->getNbInputs(); ++i) {
        const nvinfer1::ITensor& input = *network_->getInput(i);
        if (!is_open(input.getDimensions())) continue;
        const auto found = shapes.find(input.getName());
        if (found == shapes.end()) fail_usage("the shape of input '{}' is missing", input.getName());
        const nvinfer1::Dims dims = to_dims(found->second);
        for (const auto which : {nvinfer1::OptProfileSelector::kMIN, nvinfer1::OptProfileSelector::kOPT,
                                 nvinfer1::OptProfileSelector::kMAX})
          profile->setDimensions(input.getName(), which, dims);
        any = true;
      }
      if (any && config_->addOptimizationProfile(profile) < 0)
        fail_bad_input("TensorRT refuses the shapes of the inputs: {}", library_.logger().take_errors());
      if (any && first_profile_ == nullptr) first_profile_ = profile;
    }
  }

  std::filesystem::path timing_cache_path() const {
    const std::string of = fmt::format("{} {} {}", library_.version(), gpu_.text(), gpu_.driver_version());
    return base::cache_directory() / "tensorrt" /
           fmt::format("timings-{}.bin", base::sha256(of).substr(0, 16));
  }

  /// Merges the times with those that other builds stored since this one began, because several GPUs of a
  /// kind share the file. The cache only saves time, so a failure to store it is ignored.
  void keep(nvinfer1::ITimingCache* cache, const std::filesystem::path& file) {
    try {
      if (std::filesystem::exists(file)) {
        const std::string kept = base::read_file(file);
        const std::unique_ptr<nvinfer1::ITimingCache> others(
            config_->createTimingCache(kept.data(), kept.size()));
        if (others != nullptr) cache->combine(*others, /*ignoreMismatch=*/false);
      }
      const std::unique_ptr<nvinfer1::IHostMemory> bytes(cache->serialize());
      if (bytes == nullptr) return;
      std::filesystem::create_directories(file.parent_path());
      base::write_file_atomic(file, std::string_view(static_cast<const char*>(bytes->data()), bytes->size()));
    } catch (const std::exception&) {
      return;
    }
  }

  [[noreturn]] void fail_build() {
    const std::string said = library_.logger().take_errors();
    const std::string missing = library_.missing_builder_resource(gpu_.major(), gpu_.minor());
    if (!missing.empty()) {
      fail_environment(
          "TensorRT {} cannot build for {}: {} is missing (install the whole package; plans that were "
          "built elsewhere can run)",
          library_.version(), gpu_.text(), missing);
    }
    std::string lower = said;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    const bool memory =
        lower.find("out of memory") != std::string::npos || lower.find("outofmemory") != std::string::npos;
    fail_environment("TensorRT {} {}: {}", library_.version(),
                     memory ? "ran out of memory while it built the engine" : "could not build the engine",
                     said);
  }

  Library& library_;
  const Gpu& gpu_;
  const Source& source_;
  const LoadOptions& options_;
  const Settings& settings_;
  std::unique_ptr<nvinfer1::IBuilder> builder_;
  std::unique_ptr<nvinfer1::INetworkDefinition> network_;
  /// Owns the weights to which the network refers.
  std::unique_ptr<nvonnxparser::IParser> parser_;
#if NV_TENSORRT_MAJOR < 11
  graph::Graph calibrated_;
  std::unique_ptr<Calibration> calibration_;
#endif
  /// Null if the shapes are fixed.
  nvinfer1::IOptimizationProfile* first_profile_ = nullptr;
  std::unique_ptr<nvinfer1::IBuilderConfig> config_;
};

std::string precision_text(const LoadOptions& options) {
  if (options.precision != Precision::kInt8) return std::string(precision_name(options.precision));
  return fmt::format("int8+{}", precision_name(options.beside_int8));
}

PlanRecord record_of(const Library& library, const Gpu& gpu, const std::string& model, const Source& source,
                     const LoadOptions& options, const Settings& settings) {
  PlanRecord record;
  record.model = model;
  record.precision = precision_text(options);
  record.typing = typing_text(options, settings);
  record.tensorrt = library.version();
  record.gpu = gpu.text();
  record.tactics = settings.tactics.empty() ? "default" : settings.tactics;
  record.level = settings.level;
  record.profiles = source.profiles();
  return record;
}

std::string key_of(const PlanRecord& record, const Gpu& gpu, const Source& source, const Settings& settings) {
  const Json said = {record.precision, record.typing, record.tensorrt,      record.gpu,
                     record.tactics,   record.level,  gpu.driver_version(), settings.workspace.value_or(0)};
  return base::sha256(source.hash() + said.dump()).substr(0, 32);
}

}  // namespace

std::string typing_text(const LoadOptions& options, const Settings& settings) {
  if (settings.strong) return "strong";
  const std::string weak = fmt::format("weak ({})", precision_text(options));
  if (settings.calibrator == Calibrator::kHone) return weak;
  return fmt::format("{}, ranges by TensorRT's {} calibrator", weak,
                     settings.calibrator == Calibrator::kEntropy ? "entropy" : "minmax");
}

BuiltPlan build_plan(Library& library, const Gpu& gpu, const std::string& model, const Source& source,
                     const LoadOptions& options, const Settings& settings) {
  BuiltPlan result;
  PlanRecord& record = result.plan.record = record_of(library, gpu, model, source, options, settings);
  const std::filesystem::path file = cached_plan_path(key_of(record, gpu, source, settings));
  // The data of TensorRT's own calibrator are not part of the key, so such plans are not stored.
  const bool kept = settings.timing_cache && settings.calibrator == Calibrator::kHone;
  if (kept && std::filesystem::exists(file)) {
    try {
      result.plan = read_plan(file, /*trusted=*/false);
      return result;
    } catch (const Error&) {
      // The plan is incomplete or not ours, so it is built again and replaced.
    }
  }
  const auto start = base::Clock::now();
  result.plan.bytes = Build(library, gpu, source, options, settings).run();
  record.build_seconds = base::seconds_since(start);
  result.plan.known = true;
  result.fresh = true;
  if (!kept) return result;
  try {
    std::filesystem::create_directories(file.parent_path());
    write_plan(file, result.plan);
  } catch (const std::exception&) {
    // The next build makes it again.
  }
  return result;
}

}  // namespace hone::backend::tensorrt
