// libnvinfer.so.<major> and libnvonnxparser.so.<major> in one, for tests without a GPU: a network is the ONNX
// file, a plan holds it, and an engine runs it with hone's reference kernels on the fake CUDA's stream. It
// says what it was configured with in its engine information, refuses what FAKE_TENSORRT_REFUSES or
// FAKE_TENSORRT_LACKS (operators: when it is parsed, or at all) or FAKE_TENSORRT_FAILS (what it then logs)
// name, and is of the version FAKE_TENSORRT_VERSION. It calibrates by the largest magnitudes of inputs and
// outputs.
#include <dlfcn.h>
#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>

#include "base/json.hpp"
#include "fake_stubs.hpp"
#include "import/load.hpp"
#include "reference/interpreter.hpp"
#include "system/scratch.hpp"

using namespace nvinfer1;  // NOLINT(google-build-using-namespace): it implements it
using hone::Json;
using hone::graph::Graph;
using hone::tensor::DType;
using hone::tensor::Tensor;

namespace {

constexpr int kDefaultVersion = NV_TENSORRT_MAJOR < 10 ? 8601 : NV_TENSORRT_MAJOR * 10000 + 100;
constexpr const char* kMagic = "fake plan\n";

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int version() {
  const std::string set = variable("FAKE_TENSORRT_VERSION");
  return set.empty() ? kDefaultVersion : std::stoi(set);
}

std::string read_bytes(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// As an engine of this major has it.
DataType data_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return DataType::kHALF;
    case DType::kInt8: return DataType::kINT8;
    case DType::kUInt8: return DataType::kUINT8;
    case DType::kBool: return DataType::kBOOL;
    case DType::kInt32: return DataType::kINT32;
#if NV_TENSORRT_MAJOR >= 10
    case DType::kBFloat16: return DataType::kBF16;
    case DType::kInt64: return DataType::kINT64;
#else
    case DType::kInt64: return DataType::kINT32;
#endif
    default: return DataType::kFLOAT;
  }
}

DType host_type(DataType type, DType model) {
  return type == DataType::kINT32 && model == DType::kInt64 ? DType::kInt32 : model;
}

Dims to_dims(const hone::tensor::Shape& shape) {
  Dims dims{};
  dims.nbDims = static_cast<int32_t>(shape.size());
  for (size_t i = 0; i < shape.size(); ++i)
    dims.d[i] = static_cast<std::remove_reference_t<decltype(dims.d[0])>>(shape[i]);
  return dims;
}

hone::tensor::Shape to_shape(const Dims& dims) { return {dims.d, dims.d + dims.nbDims}; }

hone::tensor::Shape declared_shape(const Graph& graph, hone::graph::ValueId id) {
  hone::tensor::Shape shape;
  for (const auto& dim : *graph.value(id).type.dims) shape.push_back(dim.known() ? dim.value() : -1);
  return shape;
}

using Shapes = std::map<std::string, hone::tensor::Shape>;

struct Model {
  std::string onnx;
  std::shared_ptr<const Graph> graph;

  static std::shared_ptr<const Model> from(const std::string& bytes) {
    const hone::system::Scratch scratch;
    const auto file = scratch.folder() / "model.onnx";
    std::ofstream(file, std::ios::binary) << bytes;
    return std::make_shared<const Model>(Model{bytes, hone::importer::load_model(file.string()).graph});
  }
};

class HostMemoryImpl : public VHostMemoryStub {
 public:
  explicit HostMemoryImpl(std::string bytes) : bytes_(std::move(bytes)) {}
  void* data() const noexcept override { return const_cast<char*>(bytes_.data()); }
  std::size_t size() const noexcept override { return bytes_.size(); }

 private:
  std::string bytes_;
};

/// An interface whose implementation lies beside it and dies with it.
template <class Interface, class Impl>
class Faked : public Interface {
 public:
  template <class... Args>
  explicit Faked(Args&&... args) : impl(std::forward<Args>(args)...) {
    this->mImpl = &impl;
  }
  Impl impl;
};

using FakeMemory = Faked<IHostMemory, HostMemoryImpl>;

class TensorImpl : public VTensorStub {
 public:
  TensorImpl(std::string name, hone::tensor::Shape shape)
      : name_(std::move(name)), shape_(std::move(shape)) {}
  char const* getName() const noexcept override { return name_.c_str(); }
  Dims getDimensions() const noexcept override { return to_dims(shape_); }

 private:
  std::string name_;
  hone::tensor::Shape shape_;
};

/// Only the library makes and destroys tensors.
class FakeTensor : public ITensor {
 public:
  FakeTensor(std::string name, hone::tensor::Shape shape) : impl_(std::move(name), std::move(shape)) {
    mImpl = &impl_;
  }

 private:
  TensorImpl impl_;
};

class NetworkImpl : public VNetworkDefinitionStub {
 public:
  explicit NetworkImpl(uint32_t flags) : flags_(flags) {}
  int32_t getNbInputs() const noexcept override { return static_cast<int32_t>(inputs_.size()); }
  ITensor* getInput(int32_t index) const noexcept override {
    return inputs_[static_cast<size_t>(index)].get();
  }

  void take(std::shared_ptr<const Model> model) {
    model_ = std::move(model);
    for (const auto id : model_->graph->inputs)
      inputs_.push_back(
          std::make_unique<FakeTensor>(model_->graph->value(id).name, declared_shape(*model_->graph, id)));
  }
  const Model* model() const { return model_.get(); }
  uint32_t flags() const { return flags_; }

 private:
  uint32_t flags_;
  std::shared_ptr<const Model> model_;
  std::vector<std::unique_ptr<FakeTensor>> inputs_;
};
using FakeNetwork = Faked<INetworkDefinition, NetworkImpl>;

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

class TimingCacheImpl : public VTimingCacheStub {
 public:
  IHostMemory* serialize() const noexcept override { return new FakeMemory(std::string("fake times")); }
};
using FakeTimingCache = Faked<ITimingCache, TimingCacheImpl>;

class ConfigImpl : public VBuilderConfigStub {
 public:
  void setFlag(BuilderFlag flag) noexcept override { flags |= 1u << static_cast<uint32_t>(flag); }
  void clearFlag(BuilderFlag flag) noexcept override { flags &= ~(1u << static_cast<uint32_t>(flag)); }
  void setBuilderOptimizationLevel(int32_t value) noexcept override { level = value; }
  void setMemoryPoolLimit(MemoryPoolType, std::size_t bytes) noexcept override { workspace = bytes; }
  bool setTacticSources(TacticSources sources) noexcept override { return tactics = sources, true; }
  ITimingCache* createTimingCache(void const*, std::size_t size) const noexcept override {
    cached = size;
    return new FakeTimingCache();
  }
  bool setTimingCache(ITimingCache const&, bool) noexcept override { return true; }
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
  mutable size_t cached = 0;
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
    const Json header = {
        {"version", version()},          {"flags", chosen.flags},         {"level", chosen.level},
        {"workspace", chosen.workspace}, {"tactics", chosen.tactics},     {"profiles", chosen.profiles},
        {"cached", chosen.cached},       {"network_flags", impl.flags()}, {"calibration", cache}};
    return new FakeMemory(kMagic + header.dump() + "\n" + impl.model()->onnx);
  }

 private:
  ILogger& logger_;
  std::vector<std::unique_ptr<FakeProfile>> profiles_;
};
using FakeBuilder = Faked<IBuilder, BuilderImpl>;

struct Loaded {
  Json header;
  std::shared_ptr<const Model> model;
};

class InspectorImpl : public VEngineInspectorStub {
 public:
  explicit InspectorImpl(const Loaded* loaded) : loaded_(loaded) {}
  bool setExecutionContext(IExecutionContext const*) noexcept override { return true; }
  char const* getEngineInformation(LayerInformationFormat) const noexcept override {
    Json layers = Json::array();
    const Graph& graph = *loaded_->model->graph;
    for (const auto& node : graph.nodes) {
      Json inputs = Json::array();
      for (const auto id : node.inputs) {
        if (id != hone::graph::kNoValue) inputs.push_back({{"Name", graph.value(id).name}});
      }
      layers.push_back(
          {{"Name", "layer of " + node.name},
           {"LayerType", "Fake" + node.op},
           {"Inputs", std::move(inputs)},
           {"Outputs", Json::array({{{"Name", graph.value(node.outputs[0]).name},
                                     {"Datatype", dtype_name(graph.value(node.outputs[0]).type.dtype)}}})},
           {"TacticName", "fake_" + node.op},
           {"Metadata", "[ONNX Layer: " + node.name + "]"}});
    }
    text_ = Json{{"Layers", std::move(layers)}, {"Fake", loaded_->header}}.dump();
    return text_.c_str();
  }

 private:
  const Loaded* loaded_;
  mutable std::string text_;
};
using FakeInspector = Faked<IEngineInspector, InspectorImpl>;

class ContextImpl : public VExecutionContextStub {
 public:
  explicit ContextImpl(const Loaded* loaded) : loaded_(loaded) {}
  bool setOptimizationProfileAsync(int32_t, cudaStream_t) noexcept override { return true; }
  bool setInputShape(char const* name, Dims const& dims) noexcept override {
    return shapes_[name] = to_shape(dims), true;
  }
  int32_t inferShapes(int32_t, char const**) noexcept override {
    std::vector<hone::tensor::Shape> shapes;
    std::vector<Tensor> inputs;
    const Graph& graph = *loaded_->model->graph;
    for (const auto id : graph.inputs) {
      Tensor zeros(graph.value(id).type.dtype, shapes_[graph.value(id).name]);
      std::memset(zeros.mutable_bytes(), 0, zeros.byte_size());
      inputs.push_back(std::move(zeros));
    }
    const auto outputs = hone::reference::run_graph(graph, inputs);
    for (size_t i = 0; i < outputs.size(); ++i)
      output_shapes_[graph.value(graph.outputs[i]).name] = outputs[i].shape();
    return 0;
  }
  Dims getTensorShape(char const* name) const noexcept override { return to_dims(output_shapes_.at(name)); }
  bool setTensorAddress(char const* name, void* data) noexcept override {
    return addresses_[name] = data, true;
  }
  bool enqueueV3(cudaStream_t stream) noexcept override {
    using Submit = void (*)(cudaStream_t, const std::function<void()>*);
    static const auto kSubmit =
        reinterpret_cast<Submit>(dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), "fake_cuda_submit"));
    const std::function<void()> work = [this] { run(); };
    kSubmit(stream, &work);
    return true;
  }
  void setProfiler(IProfiler* profiler) noexcept override { profiler_ = profiler; }
  bool reportToProfiler() const noexcept override {
    for (const auto& node : loaded_->model->graph->nodes)
      profiler_->reportLayerTime(("layer of " + node.name).c_str(), 0.25F);
    return true;
  }

 private:
  void run() {
    const Graph& graph = *loaded_->model->graph;
    std::vector<Tensor> inputs;
    for (const auto id : graph.inputs) {
      const auto& value = graph.value(id);
      Tensor input(host_type(data_type(value.type.dtype), value.type.dtype), shapes_[value.name]);
      std::memcpy(input.mutable_bytes(), addresses_.at(value.name), input.byte_size());
      inputs.push_back(input.cast(value.type.dtype));
    }
    const auto outputs = hone::reference::run_graph(graph, inputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto& value = graph.value(graph.outputs[i]);
      const Tensor output = outputs[i].cast(host_type(data_type(value.type.dtype), value.type.dtype));
      std::memcpy(addresses_.at(value.name), output.bytes(), output.byte_size());
    }
  }

  const Loaded* loaded_;
  Shapes shapes_;
  Shapes output_shapes_;
  std::map<std::string, void*> addresses_;
  IProfiler* profiler_ = nullptr;
};
using FakeContext = Faked<IExecutionContext, ContextImpl>;

class EngineImpl : public VCudaEngineStub {
 public:
  explicit EngineImpl(Loaded loaded) : loaded_(std::move(loaded)) {}
  int32_t getNbOptimizationProfiles() const noexcept override {
    return std::max<int32_t>(1, static_cast<int32_t>(loaded_.header["profiles"].size()));
  }
  Dims getProfileShape(char const* name, int32_t profile, OptProfileSelector select) const noexcept override {
    const Json& profiles = loaded_.header["profiles"];
    const auto index = static_cast<size_t>(profile);
    if (index < profiles.size() && profiles[index].contains(name)) {
      for (const Json& range : profiles[index][name]) {
        if (range[0] == static_cast<int>(select)) return to_dims(range[1].get<hone::tensor::Shape>());
      }
    }
    return to_dims(declared_shape(graph(), find(name)));
  }
  Dims getTensorShape(char const* name) const noexcept override {
    return to_dims(declared_shape(graph(), find(name)));
  }
  DataType getTensorDataType(char const* name) const noexcept override {
    return data_type(graph().value(find(name)).type.dtype);
  }
  TensorLocation getTensorLocation(char const*) const noexcept override { return TensorLocation::kDEVICE; }
#if NV_TENSORRT_MAJOR < 10
  IExecutionContext* createExecutionContext() noexcept override { return new FakeContext(&loaded_); }
#else
  IExecutionContext* createExecutionContext(ExecutionContextAllocationStrategy) noexcept override {
    return new FakeContext(&loaded_);
  }
#endif
#if NV_TENSORRT_MAJOR < 11
  size_t getDeviceMemorySize() const noexcept override { return 4096; }
#else
  int64_t getDeviceMemorySizeV2() const noexcept override { return 4096; }
#endif
  IEngineInspector* createEngineInspector() const noexcept override { return new FakeInspector(&loaded_); }

 private:
  const Graph& graph() const { return *loaded_.model->graph; }
  hone::graph::ValueId find(const std::string& name) const {
    for (const auto* ids : {&graph().inputs, &graph().outputs}) {
      for (const auto id : *ids) {
        if (graph().value(id).name == name) return id;
      }
    }
    std::abort();
  }

  Loaded loaded_;
};
using FakeEngine = Faked<ICudaEngine, EngineImpl>;

class RuntimeImpl : public VRuntimeStub {
 public:
  explicit RuntimeImpl(ILogger* logger) : logger_(*logger) {}
#if NV_TENSORRT_MAJOR < 10
  ICudaEngine* deserializeCudaEngine(void const* blob, std::size_t size, IPluginFactory*) noexcept override {
#else
  ICudaEngine* deserializeCudaEngine(void const* blob, std::size_t size) noexcept override {
#endif
    const std::string bytes(static_cast<const char*>(blob), size);
    const size_t magic = std::strlen(kMagic);
    const size_t end = bytes.find('\n', magic);
    const Json header = bytes.starts_with(kMagic) && end != std::string::npos
                            ? Json::parse(bytes.substr(magic, end - magic), nullptr, false)
                            : Json();
    if (!header.is_object() || header["version"] != version()) {
      logger_.log(ILogger::Severity::kERROR, header.is_object() ? "The engine plan file is of another version"
                                                                : "Magic tag does not match");
      return nullptr;
    }
    return new FakeEngine(Loaded{header, Model::from(bytes.substr(end + 1))});
  }

 private:
  ILogger& logger_;
};
using FakeRuntime = Faked<IRuntime, RuntimeImpl>;

class FakeError : public nvonnxparser::IParserErrorStub {
 public:
  explicit FakeError(int node) : node_(node) {}
  const char* desc() const noexcept override { return "the fake parser refuses it"; }
  int node() const noexcept override { return node_; }

 private:
  int node_;
};

class FakeParser : public nvonnxparser::IParserStub {
 public:
  explicit FakeParser(INetworkDefinition* network) : network_(static_cast<FakeNetwork&>(*network)) {}
  bool parseFromFile(const char* file, int) noexcept override {
    const auto model = Model::from(read_bytes(file));
    for (size_t i = 0; i < model->graph->nodes.size(); ++i) {
      // The first one ends it, as it ends the library's own.
      if (model->graph->nodes[i].op != variable("FAKE_TENSORRT_REFUSES")) continue;
      errors_.emplace_back(static_cast<int>(i));
      return false;
    }
    network_.impl.take(model);
    return true;
  }
  bool supportsOperator(const char* name) const noexcept override {
    return std::string_view(name) != variable("FAKE_TENSORRT_LACKS");
  }
  int getNbErrors() const noexcept override { return static_cast<int>(errors_.size()); }
  nvonnxparser::IParserError const* getError(int index) const noexcept override {
    return &errors_[static_cast<size_t>(index)];
  }

 private:
  FakeNetwork& network_;
  std::vector<FakeError> errors_;
};

}  // namespace

extern "C" {
int32_t getInferLibVersion() noexcept { return version(); }
void* createInferBuilder_INTERNAL(void* logger, int32_t) noexcept {
  return new FakeBuilder(static_cast<ILogger*>(logger));
}
void* createInferRuntime_INTERNAL(void* logger, int32_t) noexcept {
  return new FakeRuntime(static_cast<ILogger*>(logger));
}
void* createNvOnnxParser_INTERNAL(void* network, void*, int) {
  return new FakeParser(static_cast<INetworkDefinition*>(network));
}
}
