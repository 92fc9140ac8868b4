// See hone_backend.hpp.
#include "backend/hone/hone_backend.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "backend/hone/decoder_executable.hpp"
#include "backend/hone/device_observer.hpp"
#include "backend/hone/step_infos.hpp"
#include "backend/reference/reference_backend.hpp"
#include "backend/shareable.hpp"
#include "device/devices.hpp"
#include "engine/carried_state.hpp"
#include "engine/description.hpp"
#include "engine/engine_file.hpp"
#include "engine/float32_nodes.hpp"

namespace hone::backend {
namespace {

std::vector<tensor::Shape> shapes_of(std::span<const tensor::Tensor> inputs) {
  std::vector<tensor::Shape> shapes;
  for (const tensor::Tensor& input : inputs) shapes.push_back(input.shape());
  return shapes;
}

/// Executions of one engine that share its weights and programs; each has its own stream.
class ContextPipeline final : public Pipeline {
 public:
  /// The first stream is that of `first`, with the first set of inputs; the others get their own contexts.
  ContextPipeline(std::shared_ptr<engine::Execution> first,
                  const std::shared_ptr<engine::LoadedEngine>& engine, int streams, bool transfers,
                  std::span<const std::vector<tensor::Tensor>> sets)
      : transfers_(transfers) {
    add(std::move(first), sets[0]);
    for (size_t i = 1; i < static_cast<size_t>(streams); ++i) {
      const std::vector<tensor::Tensor>& inputs = sets[i % sets.size()];
      contexts_.push_back(std::make_unique<engine::Context>(engine));
      add(contexts_.back()->execution(shapes_of(inputs)), inputs);
    }
  }

  void submit() override { executions_[next_++ % executions_.size()]->executor().submit(transfers_); }

  void finish() override {
    for (const auto& execution : executions_) execution->executor().finish();
  }

 private:
  void add(std::shared_ptr<engine::Execution> execution, const std::vector<tensor::Tensor>& inputs) {
    execution->upload(inputs);
    executions_.push_back(std::move(execution));
  }

  bool transfers_;
  std::vector<std::unique_ptr<engine::Context>> contexts_;
  std::vector<std::shared_ptr<engine::Execution>> executions_;
  size_t next_ = 0;
};

/// Runs of one engine on the CPU in several threads, each with its own context.
class ThreadPipeline final : public Pipeline {
 public:
  ThreadPipeline(const std::shared_ptr<engine::LoadedEngine>& engine, int streams,
                 std::span<const std::vector<tensor::Tensor>> sets) {
    for (size_t i = 0; i < static_cast<size_t>(streams); ++i) {
      streams_.push_back(std::make_unique<Stream>(engine, sets[i % sets.size()]));
      Stream& stream = *streams_.back();
      stream.thread = std::thread([this, &stream] { serve(stream); });
    }
  }
  ~ThreadPipeline() override {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    for (const auto& stream : streams_) stream->thread.join();
  }

  void submit() override {
    Stream& stream = *streams_[next_++ % streams_.size()];
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stream.waiting < kUnderWay || failure_; });
    throw_failure();
    ++stream.waiting;
    changed_.notify_all();
  }

  void finish() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return failure_ || std::all_of(streams_.begin(), streams_.end(),
                                     [](const auto& stream) { return stream->waiting == 0; });
    });
    throw_failure();
  }

 private:
  static constexpr int kUnderWay = 2;
  struct Stream {
    Stream(const std::shared_ptr<engine::LoadedEngine>& engine, std::span<const tensor::Tensor> given)
        : context(engine), inputs(given) {}
    engine::Context context;
    std::span<const tensor::Tensor> inputs;
    int waiting = 0;  ///< including the current run
    std::thread thread;
  };

  void throw_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

  void serve(Stream& stream) {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return ends_ || stream.waiting > 0; });
      if (ends_) return;
      lock.unlock();
      std::exception_ptr failure;
      try {
        stream.context.run(stream.inputs);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      --stream.waiting;
      if (failure) failure_ = failure;
      changed_.notify_all();
      if (failure) return;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::exception_ptr failure_;
  std::vector<std::unique_ptr<Stream>> streams_;
  size_t next_ = 0;
};

/// An engine's runs on memory of a GPU, in their own context.
class ContextRuns final : public BoundRuns {
 public:
  ContextRuns(const std::shared_ptr<engine::LoadedEngine>& engine, std::span<const tensor::TensorView> inputs,
              const DeviceExchange& exchange)
      : context_(engine),
        queue_(engine->device().wrap_queue(exchange.stream())),
        binding_(
            context_.bind(inputs, std::vector<tensor::TensorView>(engine->engine().graph->outputs.size()))) {}

  void submit() override { context_.run(binding_, queue_.get()); }
  const std::vector<tensor::TensorView>& outputs() const override { return binding_.outputs(); }
  bool has_open_outputs() const {
    for (size_t i = 0; i < outputs().size(); ++i) {
      if (binding_.is_open(i)) return true;
    }
    return false;
  }

 private:
  engine::Context context_;
  std::unique_ptr<tensor::Queue> queue_;
  engine::Binding binding_;
};

class HoneExecutable final : public Executable, public Shareable {
 public:
  /// `free_before` is the number of bytes that were free on the device before the engine was made.
  HoneExecutable(std::shared_ptr<const engine::Engine> engine, const engine::Device& device, int threads,
                 int64_t free_before, std::string note = {})
      : engine_(std::move(engine)),
        device_(device),
        free_before_(free_before),
        note_(std::move(note)),
        loaded_(std::make_shared<engine::LoadedEngine>(engine_, device_, threads)),
        context_(loaded_) {
    for (const graph::ValueId id : engine_->graph->inputs) {
      const auto found = engine_->shapes.find(engine_->graph->value(id).name);
      if (found != engine_->shapes.end()) last_shapes_.push_back(found->second.opt);
    }
  }
  HoneExecutable& operator=(const HoneExecutable&) = delete;

  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs) override {
    auto outputs = context_.run(inputs);
    last_shapes_ = shapes_of(inputs);
    return outputs;
  }

  void upload(std::span<const tensor::Tensor> inputs) override {
    if (!resident()) return Executable::upload(inputs);
    std::vector<tensor::Shape> shapes = shapes_of(inputs);
    uploaded_ = context_.execution(shapes);
    uploaded_->upload(inputs);
    last_shapes_ = std::move(shapes);
  }

  void execute() override {
    if (!resident()) return Executable::execute();
    uploaded_->executor().execute(nullptr);
  }

  std::vector<tensor::Tensor> download() override {
    return resident() ? uploaded_->executor().download() : Executable::download();
  }

  Bound bind(std::span<const tensor::TensorView> inputs, DeviceExchange& exchange) override {
    if (!resident()) return Executable::bind(inputs, exchange);
    auto runs = std::make_unique<ContextRuns>(loaded_, inputs, exchange);
    if (runs->has_open_outputs()) return {nullptr, "the data decide the shape of an output"};
    return {std::move(runs), {}};
  }

  bool has_phases() const override { return resident(); }

  RunPhases time_phases(bool cold) override {
    constexpr double kMilli = 1e-3;
    const engine::PhaseTimes times = uploaded_->executor().time_phases(cold);
    return {kMilli * times.h2d_us, kMilli * times.enqueue_us, kMilli * times.device_us,
            kMilli * times.d2h_us};
  }

  bool has_pipeline() const override { return true; }

  std::unique_ptr<Pipeline> make_pipeline(int streams, bool transfers,
                                          std::span<const std::vector<tensor::Tensor>> sets) override {
    if (!resident()) return std::make_unique<ThreadPipeline>(loaded_, streams, sets);
    return std::make_unique<ContextPipeline>(context_.execution(shapes_of(sets[0])), loaded_, streams,
                                             transfers, sets);
  }

  std::unique_ptr<Executable> share() const override {
    return std::unique_ptr<Executable>(new HoneExecutable(*this));
  }

  bool was_tuned() const override { return engine_->tuned; }

  bool times_device() const override {
    return resident() && last_shapes_.size() == engine_->graph->inputs.size() &&
           context_.execution(last_shapes_)->executor().can_be_watched();
  }

  std::unique_ptr<Observer> observe(const ObserveOptions& options) override {
    if (options.device && times_device())
      return std::make_unique<DeviceObserver>(context_.execution(last_shapes_)->executor().watch());
    if (!options.awaited_steps || !resident() || last_shapes_.empty()) return nullptr;
    return std::make_unique<StepObserver>(context_.execution(last_shapes_)->executor());
  }

  std::string bus_id() const override { return device_.bus_id(); }

  MemoryUse memory() const override {
    MemoryUse use{.weights = loaded_->packed_bytes()};
    const bool storable = engine_->shapes.size() == engine_->graph->inputs.size();
    if (engine_file_ == 0 && storable) engine_file_ = engine::engine_file_bytes(*engine_, device_);
    use.engine_file = engine_file_;
    const engine::DeviceMemory device = device_.memory();
    use.device = {.allocated = device.allocated,
                  .peak_allocated = device.peak_allocated,
                  .driver = free_before_ - device.free};
    if (const engine::Program* program = current()) {
      use.activations = program->activation_bytes();
      if (resident())
        use.device.planned = use.weights + program->constant_bytes() + use.activations + program->io_bytes();
      for (const graph::ValueId id : program->plain_constants()) {
        use.weights += static_cast<int64_t>(engine_->graph->constant(id)->byte_size());
      }
    }
    return use;
  }

  std::vector<StepInfo> steps() const override {
    if (current() == nullptr) return {};
    return step_infos(engine::describe(*loaded_, last_shapes_));
  }

  std::optional<double> int8_share() const override { return int8_share_of(*engine_); }

  std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    if (!note_.empty()) notes.push_back(note_);
    for (const char* key : {kQuantizationNote, kOwnQuantizationNote}) {
      const auto quantization = engine_->metadata.find(key);
      if (quantization != engine_->metadata.end()) notes.push_back(quantization->second);
    }
    for (const engine::NumericPolicy& policy : engine_->policies) {
      for (std::string& note : device_.notes(policy)) notes.push_back(std::move(note));
      const int64_t saturated = engine::count_saturated_constants(*engine_->graph, policy.storage);
      if (saturated > 0) {
        notes.push_back(
            fmt::format("{} {} of the model's constants beyond the range of {} {} kept as its largest",
                        saturated, saturated == 1 ? "value" : "values", tensor::dtype_name(policy.storage),
                        saturated == 1 ? "is" : "are"));
      }
    }
    if (const engine::Program* program = resident() ? current() : nullptr) {
      if (std::string note = engine::host_steps_note(*program); !note.empty())
        notes.push_back(std::move(note));
    }
    return notes;
  }

 private:
  /// Makes a separate context for the engine that the other executable loaded.
  HoneExecutable(const HoneExecutable& other)
      : engine_(other.engine_),
        device_(other.device_),
        free_before_(other.free_before_),
        note_(other.note_),
        loaded_(other.loaded_),
        context_(loaded_),
        last_shapes_(other.last_shapes_) {}

  /// True if inputs and outputs have their own memory on the device.
  bool resident() const { return device_.place().kind != tensor::PlaceKind::kCpu; }

  /// The program of the last run that succeeded; null before the first run if shapes are not known.
  const engine::Program* current() const {
    if (last_shapes_.size() != engine_->graph->inputs.size()) return nullptr;
    return &context_.program(last_shapes_);
  }

  std::shared_ptr<const engine::Engine> engine_;
  const engine::Device& device_;
  int64_t free_before_;
  std::string note_;
  mutable int64_t engine_file_ = 0;
  std::shared_ptr<engine::LoadedEngine> loaded_;
  mutable engine::Context context_;
  std::shared_ptr<engine::Execution> uploaded_;
  std::vector<tensor::Shape> last_shapes_;
};

class HoneBackend final : public Backend {
 public:
  std::string_view name() const override { return kOwnBackend; }
  std::string version(std::string_view device) const override {
    return fmt::format("{} ({})", HONE_VERSION, device::find_device(device).fingerprint());
  }
  void require_device(std::string_view device) const override { device::find_device(device); }

  std::unique_ptr<Executable> load(const importer::Model& model, const LoadOptions& options) override {
    std::string note;
    const ResolvedBuild build = resolve(model, options, note);
    const int64_t free_before = build.device.memory().free;
    const auto engine = backend::build(build);
    if (const auto caches = engine::fixed_caches_of(*engine))
      return make_decoder_executable(engine, *caches, build.device, engine->threads);
    return std::make_unique<HoneExecutable>(engine, build.device, engine->threads, free_before,
                                            std::move(note));
  }

  bool binds() const override { return true; }

  /// The last tactic in every device's list is the reference.
  std::vector<Refusal> refusals(const importer::Model& model, const LoadOptions&) override {
    return nodes_without_kernel(*model.graph);
  }

 private:
  /// Resolves with caches that stay on the device if there is a context and the model allows it; otherwise
  /// `note` gives the reason.
  static ResolvedBuild resolve(const importer::Model& model, const LoadOptions& options, std::string& note) {
    if (options.context == 0) return backend::resolve(request_of(options), model);
    try {
      BuildRequest request = request_of(options);
      keep_caches(request, *model.graph, options);
      return backend::resolve(request, model);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kBadInput) throw;
      note = fmt::format("its caches are copied in every run: {}", error.what());
      return backend::resolve(request_of(options), model);
    }
  }

  /// Requests caches with room for the context.
  static void keep_caches(BuildRequest& request, const graph::Graph& graph, const LoadOptions& options) {
    for (const engine::Carry& carry : engine::parse_carries(graph, options.bind)) {
      const graph::Value& cache = graph.value(graph.inputs[carry.input]);
      tensor::Shape& shape = request.shapes[cache.name].opt;
      for (size_t i = 1; i < shape.size(); ++i) {
        if ((*cache.type.dims)[i].known()) continue;
        shape[i] = options.context;
        break;
      }
    }
    request.bind = options.bind;
  }
};

}  // namespace

BuildRequest request_of(const LoadOptions& options) {
  BuildRequest request;
  request.device = options.device;
  request.precision = options.precision;
  if (options.precision == Precision::kInt8) request.other_precisions = {options.beside_int8};
  request.int8.generated = true;
  request.threads = options.threads;
  request.cache.used = options.timing_cache;
  request.progress = options.progress;
  if (options.only_these_shapes) request.open_dims = engine::OpenDims::kAsTuned;
  for (const auto& [name, shape] : options.input_shapes) request.shapes[name].opt = shape;
  return request;
}

std::unique_ptr<Executable> make_engine_executable(std::shared_ptr<const engine::Engine> engine, int threads,
                                                   std::optional<tensor::Place> place) {
  const engine::Device& device = device::device_of_fingerprint(engine->fingerprint(), place);
  const int64_t free_before = device.memory().free;
  return std::make_unique<HoneExecutable>(std::move(engine), device, threads, free_before);
}

std::unique_ptr<Backend> make_hone_backend() { return std::make_unique<HoneBackend>(); }

}  // namespace hone::backend
