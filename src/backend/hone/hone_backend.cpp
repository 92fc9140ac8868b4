// See hone_backend.hpp.
#include "backend/hone/hone_backend.hpp"

#include "base/file.hpp"
#include "device/devices.hpp"

namespace hone::backend {
namespace {

void check_precision(const engine::Device& device, Precision precision) {
  // bf16 is emulated where a device has it not.
  if (device.computes_in(precision) || precision == Precision::kBf16) return;
  fail_environment("the device {} does not run in {}", device.name(), precision_name(precision));
}

class HoneExecutable final : public Executable {
 public:
  HoneExecutable(std::shared_ptr<const engine::Engine> engine, const engine::Device& device, int threads)
      : engine_(std::move(engine)), device_(device), context_(engine_, device_, threads) {
    for (const graph::ValueId id : engine_->graph->inputs) {
      const auto found = engine_->shapes.find(engine_->graph->value(id).name);
      if (found != engine_->shapes.end()) last_shapes_.push_back(found->second.opt);
    }
  }

  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs) override {
    last_shapes_.clear();
    for (const tensor::Tensor& input : inputs) last_shapes_.push_back(input.shape());
    return context_.run(inputs);
  }

  void upload(std::span<const tensor::Tensor> inputs) override {
    if (!resident()) return Executable::upload(inputs);
    last_shapes_.clear();
    for (const tensor::Tensor& input : inputs) last_shapes_.push_back(input.shape());
    uploaded_ = &context_.program(last_shapes_);
    uploaded_->upload(inputs);
  }

  void execute() override {
    if (!resident()) return Executable::execute();
    uploaded_->executor().execute(nullptr);
  }

  std::vector<tensor::Tensor> download() override {
    return resident() ? uploaded_->executor().download() : Executable::download();
  }

  MemoryUse memory() const override {
    MemoryUse use{engine_->weights.total_bytes(), 0};
    if (const engine::Program* program = current()) {
      use.activations = program->activation_bytes();
      for (const graph::ValueId id : program->plain_constants()) {
        use.weights += static_cast<int64_t>(engine_->graph->constant(id)->byte_size());
      }
    }
    return use;
  }

  std::vector<StepInfo> steps() const override {
    std::vector<StepInfo> result;
    if (const engine::Program* program = current()) {
      for (const engine::ProgramStep& step : program->steps())
        result.push_back({step.name, step.kind, step.sources, step.tactic});
    }
    return result;
  }

  std::vector<std::string> notes() const override { return device_.notes(engine_->precision); }

 private:
  /// Whether inputs and outputs have a place of their own on the device.
  bool resident() const { return device_.name() != "cpu"; }

  /// The program of the last run; null before the first one when shapes are not known.
  const engine::Program* current() const {
    if (last_shapes_.size() != engine_->graph->inputs.size()) return nullptr;
    return &context_.program(last_shapes_);
  }

  std::shared_ptr<const engine::Engine> engine_;
  const engine::Device& device_;
  mutable engine::Context context_;
  engine::Program* uploaded_ = nullptr;
  std::vector<tensor::Shape> last_shapes_;
};

class HoneBackend final : public Backend {
 public:
  std::string_view name() const override { return "hone"; }
  std::string version() const override {
    return fmt::format("{} ({})", HONE_VERSION, device::find_device("cpu").fingerprint());
  }

  std::unique_ptr<Executable> load(const importer::Model& model, const LoadOptions& options) override {
    if (model.graph == nullptr)
      fail_bad_input("{} is a TorchScript archive; use --backend torchscript", model.name);
    const engine::Device& device = device::find_device(options.device);
    const auto engine = engine::build_engine(*model.graph, device, build_options(model, options));
    return std::make_unique<HoneExecutable>(engine, device, options.threads);
  }
};

}  // namespace

engine::BuildOptions build_options(const importer::Model& model, const LoadOptions& options) {
  engine::BuildOptions build;
  build.model = model.name;
  build.metadata = model.metadata;
  check_precision(device::find_device(options.device), options.precision);
  build.precision = options.precision;
  build.threads = options.threads;
  build.optimization_level = options.optimization_level;
  build.disabled_passes = options.disabled_passes;
  build.cache_folder = base::cache_directory();
  // A profile only fixes what to tune for: 1 to anything is accepted where the model leaves a dimension open.
  for (const graph::ValueId id : model.graph->inputs) {
    const graph::Value& input = model.graph->value(id);
    const auto found = options.input_shapes.find(input.name);
    if (found == options.input_shapes.end() || !input.type.ranked() ||
        input.type.dims->size() != found->second.size())
      continue;
    engine::ShapeProfile profile{found->second, found->second, found->second};
    for (size_t i = 0; i < profile.opt.size(); ++i) {
      if ((*input.type.dims)[i].known()) continue;
      profile.min[i] = 0;
      profile.max[i] = INT64_MAX;
    }
    build.shapes[input.name] = std::move(profile);
  }
  return build;
}

std::unique_ptr<Executable> make_engine_executable(std::shared_ptr<const engine::Engine> engine,
                                                   int threads) {
  const engine::Device& device = device::device_of_fingerprint(engine->fingerprint);
  return std::make_unique<HoneExecutable>(std::move(engine), device, threads);
}

std::unique_ptr<Backend> make_hone_backend() { return std::make_unique<HoneBackend>(); }

}  // namespace hone::backend
