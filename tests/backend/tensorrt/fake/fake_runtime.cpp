// The runtime, its engines and what runs them.
#include <dlfcn.h>

#include <cstring>
#include <functional>
#include <map>

#include "base/json.hpp"
#include "fake_common.hpp"
#include "reference/interpreter.hpp"

namespace fake {
namespace {

using hone::Json;

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

using Shapes = std::map<std::string, hone::tensor::Shape>;

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

}  // namespace
}  // namespace fake

extern "C" void* createInferRuntime_INTERNAL(void* logger, int32_t) noexcept {
  return new fake::FakeRuntime(static_cast<nvinfer1::ILogger*>(logger));
}
