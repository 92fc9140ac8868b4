// See hone_backend.hpp.
#include "backend/hone/hone_backend.hpp"

#include "base/file.hpp"
#include "device/cpu/cpu_device.hpp"

namespace hone::backend {
namespace {

tensor::DType compute_dtype(Precision precision) {
  if (precision == Precision::kFp32) return tensor::DType::kFloat32;
  if (precision == Precision::kBf16) return tensor::DType::kBFloat16;
  fail_environment("the CPU engine runs in fp32 and bf16, not in {}", precision_name(precision));
}

class HoneExecutable final : public Executable {
 public:
  HoneExecutable(std::shared_ptr<const engine::Engine> engine, int threads)
      : engine_(std::move(engine)), device_(device::cpu::cpu_device()), context_(engine_, device_, threads) {
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

  std::vector<std::string> notes() const override { return device_.notes(engine_->compute_dtype); }

 private:
  /// The program of the last run; null before the first one when shapes are not known.
  const engine::Program* current() const {
    if (last_shapes_.size() != engine_->graph->inputs.size()) return nullptr;
    return &context_.program(last_shapes_);
  }

  std::shared_ptr<const engine::Engine> engine_;
  const engine::Device& device_;
  mutable engine::Context context_;
  std::vector<tensor::Shape> last_shapes_;
};

class HoneBackend final : public Backend {
 public:
  std::string_view name() const override { return "hone"; }
  std::string version() const override {
    return fmt::format("{} ({})", HONE_VERSION, device::cpu::cpu_device().fingerprint());
  }

  std::unique_ptr<Executable> load(const importer::Model& model, const LoadOptions& options) override {
    if (model.graph == nullptr)
      fail_bad_input("{} is a TorchScript archive; use --backend torchscript", model.name);
    const auto engine =
        engine::build_engine(*model.graph, device::cpu::cpu_device(), build_options(model, options));
    return make_engine_executable(engine, options.threads);
  }
};

}  // namespace

engine::BuildOptions build_options(const importer::Model& model, const LoadOptions& options) {
  engine::BuildOptions build;
  build.model = model.name;
  build.metadata = model.metadata;
  build.compute_dtype = compute_dtype(options.precision);
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
  const std::string here = device::cpu::cpu_device().fingerprint();
  if (engine->fingerprint != here) {
    fail_environment("the engine was built for '{}', this is '{}'; build it again here", engine->fingerprint,
                     here);
  }
  return std::make_unique<HoneExecutable>(std::move(engine), threads);
}

std::unique_ptr<Backend> make_hone_backend() { return std::make_unique<HoneBackend>(); }

}  // namespace hone::backend
