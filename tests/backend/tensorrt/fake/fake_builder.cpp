// The builder, what it is configured with, and its calibration.
#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "base/json.hpp"
#include "fake_network.hpp"
#include "reference/interpreter.hpp"

namespace fake {
namespace {

using hone::Json;

class ProfileImpl : public VOptimizationProfileStub {
 public:
#if NV_TENSORRT_MAJOR < 10
  bool setDimensions(char const* name, OptProfileSelector select, Dims dims) noexcept override {
#else
  bool setDimensions(char const* name, OptProfileSelector select, Dims const& dims) noexcept override {
#endif
    ranges[name][static_cast<int>(select)] = to_shape(dims);
    return true;
  }
  std::map<std::string, std::map<int, hone::tensor::Shape>> ranges;
};
using FakeProfile = Faked<IOptimizationProfile, ProfileImpl>;

/// Lines, one for each build whose times it holds.
class TimingCacheImpl : public VTimingCacheStub {
 public:
  explicit TimingCacheImpl(std::string kept) : times(std::move(kept)) {}
  IHostMemory* serialize() const noexcept override { return new FakeMemory(times); }
  bool combine(ITimingCache const& other, bool) noexcept override;
  void add(const std::string& line) {
    if (times.find(line) == std::string::npos) times += line;
  }
  std::string times;
};
using FakeTimingCache = Faked<ITimingCache, TimingCacheImpl>;

bool TimingCacheImpl::combine(ITimingCache const& other, bool) noexcept {
  std::istringstream lines(static_cast<const FakeTimingCache&>(other).impl.times);
  for (std::string line; std::getline(lines, line);) add(line + "\n");
  return true;
}

class ConfigImpl : public VBuilderConfigStub {
 public:
  void setFlag(BuilderFlag flag) noexcept override { flags |= 1u << static_cast<uint32_t>(flag); }
  void clearFlag(BuilderFlag flag) noexcept override { flags &= ~(1u << static_cast<uint32_t>(flag)); }
  void setBuilderOptimizationLevel(int32_t value) noexcept override { level = value; }
  void setMemoryPoolLimit(MemoryPoolType, std::size_t bytes) noexcept override { workspace = bytes; }
  bool setTacticSources(TacticSources sources) noexcept override { return tactics = sources, true; }
  ITimingCache* createTimingCache(void const* bytes, std::size_t size) const noexcept override {
    return new FakeTimingCache(size == 0 ? std::string()
                                         : std::string(static_cast<const char*>(bytes), size));
  }
  bool setTimingCache(ITimingCache const& cache, bool) noexcept override {
    // The interface promises not to change it, and changes it.
    timings = &const_cast<FakeTimingCache&>(static_cast<const FakeTimingCache&>(cache)).impl;
    return true;
  }
  void setPreviewFeature(PreviewFeature feature, bool enable) noexcept override {
    preview[static_cast<int>(feature)] = enable;
  }
  int32_t addOptimizationProfile(IOptimizationProfile const* profile) noexcept override {
    profiles.push_back(static_cast<const FakeProfile*>(profile)->impl.ranges);
    return static_cast<int32_t>(profiles.size()) - 1;
  }

#if NV_TENSORRT_MAJOR < 11
  void setInt8Calibrator(IInt8Calibrator* chosen) noexcept override { calibrator = chosen; }
  bool setCalibrationProfile(IOptimizationProfile const* profile) noexcept override {
    calibration_profile = static_cast<const FakeProfile*>(profile)->impl.ranges;
    return true;
  }

  IInt8Calibrator* calibrator = nullptr;
  std::map<std::string, std::map<int, hone::tensor::Shape>> calibration_profile;
#endif
  uint32_t flags = 1u << static_cast<uint32_t>(BuilderFlag::kTF32);
  int level = -1;
  size_t workspace = 0;
  uint32_t tactics = 0;
  TimingCacheImpl* timings = nullptr;
  std::map<int, bool> preview;
  std::vector<std::map<std::string, std::map<int, hone::tensor::Shape>>> profiles;
};
using FakeConfig = Faked<IBuilderConfig, ConfigImpl>;

#if NV_TENSORRT_MAJOR < 11
/// As the library does it: the cache that is given, else batches until there are none, of which a cache is
/// written.
std::string calibrate(const Graph& graph, const ConfigImpl& config) {
  IInt8Calibrator& calibrator = *config.calibrator;
  size_t length = 0;
  if (const void* cache = calibrator.readCalibrationCache(length); cache != nullptr)
    return {static_cast<const char*>(cache), length};
  std::vector<const char*> names;
  for (const auto id : graph.inputs) names.push_back(graph.value(id).name.c_str());
  std::map<std::string, float> largest;
  const auto see = [&](hone::graph::ValueId id, const Tensor& tensor) {
    float& most = largest[graph.value(id).name];
    for (const float value : tensor.cast(DType::kFloat32).values<float>())
      most = std::max(most, std::abs(value));
  };
  std::vector<void*> bindings(names.size());
  while (calibrator.getBatch(bindings.data(), names.data(), static_cast<int32_t>(names.size()))) {
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < names.size(); ++i) {
      const auto& value = graph.value(graph.inputs[i]);
      hone::tensor::Shape shape = declared_shape(graph, graph.inputs[i]);
      if (const auto open = config.calibration_profile.find(names[i]);
          open != config.calibration_profile.end())
        shape = open->second.at(static_cast<int>(OptProfileSelector::kOPT));
      Tensor input(host_type(data_type(value.type.dtype), value.type.dtype), shape);
      std::memcpy(input.mutable_bytes(), bindings[i], input.byte_size());
      inputs.push_back(input.cast(value.type.dtype));
      see(graph.inputs[i], inputs.back());
    }
    const auto outputs = hone::reference::run_graph(graph, inputs);
    for (size_t i = 0; i < outputs.size(); ++i) see(graph.outputs[i], outputs[i]);
  }
  if (largest.empty()) return {};
  const bool minmax = calibrator.getAlgorithm() == CalibrationAlgoType::kMINMAX_CALIBRATION;
  std::string cache =
      fmt::format("TRT-{}-{}\n", version(), minmax ? "MinMaxCalibration" : "EntropyCalibration2");
  for (const auto& [name, most] : largest)
    cache += fmt::format("{}: {:08x}\n", name, std::bit_cast<uint32_t>(most / 127));
  calibrator.writeCalibrationCache(cache.data(), cache.size());
  return cache;
}
#endif

class BuilderImpl : public VBuilderStub {
 public:
  explicit BuilderImpl(ILogger* logger) : logger_(*logger) {}
  IBuilderConfig* createBuilderConfig() noexcept override { return new FakeConfig(); }
  INetworkDefinition* createNetworkV2(NetworkDefinitionCreationFlags flags) noexcept override {
    return new FakeNetwork(flags);
  }
  bool setMaxThreads(int32_t threads) noexcept override { return threads_ = threads, true; }
  IOptimizationProfile* createOptimizationProfile() noexcept override {
    return profiles_.emplace_back(std::make_unique<FakeProfile>()).get();
  }
  IHostMemory* buildSerializedNetwork(INetworkDefinition& network, IBuilderConfig& config) noexcept override {
    if (const std::string failure = variable("FAKE_TENSORRT_FAILS"); !failure.empty()) {
      logger_.log(ILogger::Severity::kERROR, failure.c_str());
      return nullptr;
    }
    const ConfigImpl& chosen = static_cast<FakeConfig&>(config).impl;
    const NetworkImpl& impl = static_cast<FakeNetwork&>(network).impl;
    const size_t cached = chosen.timings == nullptr ? 0 : chosen.timings->times.size();
    if (chosen.timings != nullptr) chosen.timings->add(fmt::format("times of level {}\n", chosen.level));
    // Another build, on another GPU, that ends before this one.
    if (const std::string file = variable("FAKE_TENSORRT_OTHER_BUILD"); !file.empty())
      std::ofstream(file) << "times of another build\n";
    std::string cache;
#if NV_TENSORRT_MAJOR < 11
    if (chosen.calibrator != nullptr) {
      cache = calibrate(*impl.model()->graph, chosen);
      if (cache.empty()) {
        logger_.log(ILogger::Severity::kERROR, "Calibration failed: no batch was given");
        return nullptr;
      }
    }
#endif
    const Json header = {{"version", version()},      {"flags", chosen.flags},
                         {"level", chosen.level},     {"workspace", chosen.workspace},
                         {"tactics", chosen.tactics}, {"profiles", chosen.profiles},
                         {"cached", cached},          {"network_flags", impl.flags()},
                         {"calibration", cache},      {"threads", threads_},
                         {"preview", chosen.preview}};
    return new FakeMemory(kMagic + header.dump() + "\n" + impl.model()->onnx);
  }

 private:
  ILogger& logger_;
  std::vector<std::unique_ptr<FakeProfile>> profiles_;
  int32_t threads_ = 1;
};
using FakeBuilder = Faked<IBuilder, BuilderImpl>;

}  // namespace
}  // namespace fake

extern "C" void* createInferBuilder_INTERNAL(void* logger, int32_t) noexcept {
  return new fake::FakeBuilder(static_cast<nvinfer1::ILogger*>(logger));
}
