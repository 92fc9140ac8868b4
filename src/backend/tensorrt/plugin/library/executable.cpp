// See executable.hpp.
#include "backend/tensorrt/plugin/library/executable.hpp"

#include <algorithm>
#include <map>

#include "backend/inputs.hpp"
#include "backend/tensorrt/layers.hpp"
#include "base/error.hpp"

namespace hone::backend::tensorrt {
namespace {

using tensor::Tensor;

/// Collects the times that the library reports for layers; a layer's name may occur several times in a run.
class LayerClock final : public nvinfer1::IProfiler {
 public:
  explicit LayerClock(std::vector<LayerTime>& layers) : layers_(layers) {
    for (size_t i = 0; i < layers_.size(); ++i) places_.emplace(layers_[i].name, i);
  }

  void reportLayerTime(const char* name, float milliseconds) noexcept override {
    try {
      auto [place, is_new] = places_.try_emplace(name, layers_.size());
      if (is_new) layers_.push_back({.name = name, .nodes = nodes_of_layer(name, "")});
      std::vector<double>& times = layers_[place->second].times_ms;
      times.resize(runs_, 0);
      times.back() += milliseconds;
    } catch (const std::exception&) {
      lost_ = true;
    }
  }

  void begin_run() { ++runs_; }
  bool lost() const { return lost_; }
  /// A layer that was absent from a run took no time in it.
  void finish() {
    for (LayerTime& layer : layers_) layer.times_ms.resize(runs_, 0);
  }

 private:
  std::vector<LayerTime>& layers_;
  std::map<std::string, size_t> places_;
  size_t runs_ = 0;
  bool lost_ = false;
};

/// Contexts of one engine, each with its own stream.
class SessionPipeline final : public Pipeline {
 public:
  SessionPipeline(std::vector<std::unique_ptr<Session>> sessions, bool transfers)
      : sessions_(std::move(sessions)), done_(2 * sessions_.size()), transfers_(transfers) {}

  void submit() override {
    const size_t lane = next_ % sessions_.size();
    // A stream can have two runs in progress: one runs, and the next one waits for it.
    const size_t turn = next_ / sessions_.size() % 2;
    Event& done = done_[2 * lane + turn];
    if (next_ >= done_.size()) done.synchronize();
    Session& session = *sessions_[lane];
    if (transfers_) {
      session.launch_with_transfers();
    } else {
      session.launch();
    }
    done.record(session.stream());
    ++next_;
  }

  void finish() override {
    for (const auto& session : sessions_) session->wait();
  }

 private:
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<Event> done_;
  bool transfers_;
  size_t next_ = 0;
};

/// A context that uses memory of the caller.
class SessionRuns final : public BoundRuns {
 public:
  SessionRuns(std::unique_ptr<Session> session, const DeviceExchange& exchange)
      : session_(std::move(session)),
        stream_(static_cast<CUstream>(exchange.stream())),
        outputs_(session_->output_views(exchange.place())) {}

  void submit() override { session_->launch_on(stream_); }
  const std::vector<tensor::TensorView>& outputs() const override { return outputs_; }

 private:
  std::unique_ptr<Session> session_;
  CUstream stream_;
  std::vector<tensor::TensorView> outputs_;
};

std::vector<Port> ports_of(const graph::Graph& graph, const std::vector<graph::ValueId>& ids) {
  std::vector<Port> ports;
  for (const graph::ValueId id : ids) ports.push_back({graph.value(id).name, graph.value(id).type.dtype});
  return ports;
}

class TensorrtExecutable final : public Executable {
 public:
  TensorrtExecutable(std::shared_ptr<const LoadedPlan> plan, PlanOrigin origin,
                     std::shared_ptr<const graph::Graph> graph, Rebuild rebuild,
                     const std::map<std::string, tensor::Shape>& shapes)
      : plan_(std::move(plan)),
        origin_(std::move(origin)),
        graph_(std::move(graph)),
        rebuild_(std::move(rebuild)) {
    if (graph_ == nullptr) return;
    inputs_ = ports_of(*graph_, graph_->inputs);
    outputs_ = ports_of(*graph_, graph_->outputs);
    std::vector<tensor::Shape> known;
    for (const Port& input : inputs_) {
      if (const auto found = shapes.find(input.name); found != shapes.end()) known.push_back(found->second);
    }
    if (known.size() == inputs_.size()) current_ = make_session(std::move(known));
  }

  std::vector<Tensor> run(std::span<const Tensor> inputs) override {
    Session& session = session_for(inputs);
    session.upload(inputs);
    session.launch();
    return session.download();
  }

  void upload(std::span<const Tensor> inputs) override { session_for(inputs).upload(inputs); }
  void execute() override {
    current_->launch();
    current_->wait();
  }
  std::vector<Tensor> download() override { return current_->download(); }

  Bound bind(std::span<const tensor::TensorView> inputs, DeviceExchange& exchange) override {
    require_graph();
    std::vector<tensor::Shape> shapes;
    std::vector<CUdeviceptr> addresses;
    for (const tensor::TensorView& input : inputs) {
      shapes.push_back(input.shape);
      addresses.push_back(reinterpret_cast<CUdeviceptr>(input.data()));
    }
    plan_->gpu->use();
    // The first run of a session reads the inputs in its own stream.
    exchange.synchronize();
    if (const Refusal refusal = unfit_for_binding(*plan_->engine, inputs_, outputs_))
      return {nullptr, refusal};
    return {std::make_unique<SessionRuns>(make_session(std::move(shapes), addresses), exchange), {}};
  }

  bool has_phases() const override { return true; }
  RunPhases time_phases(bool cold) override { return current_->time_phases(cold); }

  bool has_pipeline() const override { return true; }
  std::unique_ptr<Pipeline> make_pipeline(int streams, bool transfers,
                                          std::span<const std::vector<Tensor>> sets) override {
    std::vector<std::unique_ptr<Session>> sessions;
    for (size_t i = 0; i < static_cast<size_t>(streams); ++i) {
      const std::vector<Tensor>& inputs = sets[i % sets.size()];
      sessions.push_back(make_session(shapes_of(inputs)));
      sessions.back()->upload(inputs);
    }
    return std::make_unique<SessionPipeline>(std::move(sessions), transfers);
  }

  bool has_layers() const override { return true; }

  LayerProfile profile_layers(int runs) override {
    LayerProfile profile;
    profile.description = engine_information(current_.get());
    profile.layers = named_layers(profile.description);
    for (LayerTime& layer : profile.layers) layer.nodes = models_nodes(layer.nodes);
    if (runs == 0) return profile;
    if (current_ == nullptr) fail_bad_input("no inputs were given to time layers on");
    for (int i = 0; i < runs; ++i)
      profile.engine_ms.push_back(current_->time_phases(/*cold=*/false).device_ms);
    time_layers(runs, profile);
    return profile;
  }

  bool was_tuned() const override { return origin_.fresh; }
  std::string bus_id() const override { return plan_->gpu->bus_id(); }

  MemoryUse memory() const override {
    MemoryUse use;
    // A plan consists of weights, except for some description.
    use.weights = plan_->plan_bytes;
    use.engine_file = plan_->plan_bytes;
#if NV_TENSORRT_MAJOR < 11
    use.activations = static_cast<int64_t>(plan_->engine->getDeviceMemorySize());
#else
    use.activations = plan_->engine->getDeviceMemorySizeV2();
#endif
    use.device.driver = origin_.free_before - plan_->gpu->free_bytes();
    return use;
  }

  std::vector<StepInfo> steps() const override {
    std::vector<StepInfo> steps = layers_of(engine_information(current_.get()));
    for (StepInfo& step : steps) step.sources = models_nodes(step.sources);
    return steps;
  }

  std::vector<std::string> notes() const override {
    const PlanRecord& record = origin_.record;
    std::vector<std::string> notes;
    notes.push_back(fmt::format(
        "TensorRT {}, builder level {}, types {}, tactic sources {}, {} optimization profile{}",
        plan_->library->version(), record.level, record.typing.empty() ? "unknown" : record.typing,
        record.tactics.empty() ? "unknown" : record.tactics, plan_->engine->getNbOptimizationProfiles(),
        plan_->engine->getNbOptimizationProfiles() == 1 ? "" : "s"));
    if (record.build_seconds > 0)
      notes.push_back(fmt::format("its engine was built in {:.1f} s{}", record.build_seconds,
                                  origin_.fresh ? "" : ", before"));
    notes.insert(notes.end(), origin_.notes.begin(), origin_.notes.end());
    if (current_ != nullptr && !current_->captured())
      notes.emplace_back("its runs are calls: this engine cannot be captured in a CUDA graph");
    return notes;
  }

 private:
  /// The model's nodes for nodes in the graph that TensorRT was given.
  std::vector<std::string> models_nodes(const std::vector<std::string>& given) const {
    std::vector<std::string> nodes;
    for (const std::string& name : given) {
      const auto found = origin_.sources.find(name);
      for (const std::string& node : found == origin_.sources.end() ? std::vector{name} : found->second) {
        if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
      }
    }
    return nodes;
  }

  Session& session_for(std::span<const Tensor> inputs) {
    require_graph();
    check_inputs(*graph_, inputs);
    if (current_ == nullptr || !same_shapes(inputs)) current_ = make_session(shapes_of(inputs));
    return *current_;
  }

  static std::vector<tensor::Shape> shapes_of(std::span<const Tensor> inputs) {
    std::vector<tensor::Shape> shapes;
    for (const Tensor& input : inputs) shapes.push_back(input.shape());
    return shapes;
  }

  std::unique_ptr<Session> make_session(std::vector<tensor::Shape> shapes,
                                        std::span<const CUdeviceptr> given = {}) {
    if (find_profile(*plan_->engine, inputs_, shapes) < 0) {
      current_.reset();
      std::map<std::string, tensor::Shape> named;
      for (size_t i = 0; i < inputs_.size(); ++i) named[inputs_[i].name] = shapes[i];
      Replacement replacement = rebuild_(named);
      plan_ = std::move(replacement.plan);
      origin_ = std::move(replacement.origin);
    }
    return std::make_unique<Session>(plan_, inputs_, outputs_, std::move(shapes), given);
  }

  void require_graph() const {
    if (graph_ == nullptr)
      fail_usage("a plan does not say what its inputs mean: run the model it was made of");
  }

  bool same_shapes(std::span<const Tensor> inputs) const {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].shape() != current_->shapes()[i]) return false;
    }
    return true;
  }

  /// Shapes are concrete if there is a context.
  std::string engine_information(Session* session) const {
    const std::unique_ptr<nvinfer1::IEngineInspector> inspector(plan_->engine->createEngineInspector());
    if (inspector == nullptr)
      fail_environment("TensorRT does not inspect: {}", plan_->library->logger().take_errors());
    if (session != nullptr) inspector->setExecutionContext(&session->context());
    const char* text = inspector->getEngineInformation(nvinfer1::LayerInformationFormat::kJSON);
    if (text == nullptr)
      fail_environment("TensorRT does not inspect: {}", plan_->library->logger().take_errors());
    return text;
  }

  /// Enqueues calls, one run after the other, because a captured graph has no events around layers.
  void time_layers(int runs, LayerProfile& profile) {
    LayerClock clock(profile.layers);
    Session& session = *current_;
    session.context().setEnqueueEmitsProfile(false);
    session.context().setProfiler(&clock);
    try {
      for (int i = 0; i < runs; ++i) {
        clock.begin_run();
        session.enqueue();
        session.wait();
        session.context().reportToProfiler();
      }
    } catch (const Error&) {
      session.context().setProfiler(nullptr);
      throw;
    }
    session.context().setProfiler(nullptr);
    if (clock.lost()) fail_environment("out of memory while layers were timed");
    clock.finish();
  }

  std::shared_ptr<const LoadedPlan> plan_;
  PlanOrigin origin_;
  std::shared_ptr<const graph::Graph> graph_;
  Rebuild rebuild_;
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
  std::unique_ptr<Session> current_;
};

}  // namespace

std::shared_ptr<const LoadedPlan> load_plan(std::shared_ptr<Library> library, std::shared_ptr<const Gpu> gpu,
                                            const std::string& bytes) {
  auto plan = std::make_shared<LoadedPlan>();
  plan->library = std::move(library);
  plan->gpu = std::move(gpu);
  plan->plan_bytes = static_cast<int64_t>(bytes.size());
  plan->runtime = plan->library->make_runtime();
  plan->library->logger().take_errors();
  plan->engine.reset(plan->runtime->deserializeCudaEngine(bytes.data(), bytes.size()));
  if (plan->engine == nullptr) {
    fail_environment("TensorRT {} does not load the plan: {} (build it again on this machine)",
                     plan->library->version(), plan->library->logger().take_errors());
  }
  return plan;
}

std::unique_ptr<Executable> make_executable(std::shared_ptr<const LoadedPlan> plan, PlanOrigin origin,
                                            std::shared_ptr<const graph::Graph> graph, Rebuild rebuild,
                                            const std::map<std::string, tensor::Shape>& shapes) {
  return std::make_unique<TensorrtExecutable>(std::move(plan), std::move(origin), std::move(graph),
                                              std::move(rebuild), shapes);
}

}  // namespace hone::backend::tensorrt
