// Runs a user's own TorchScript archive, whose forward() defines its inputs.
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>

#include "backend/torch/plugin/convert.hpp"
#include "backend/torch/plugin/executable.hpp"
#include "backend/torch/plugin/script.hpp"

namespace hone::backend::aten {
namespace {

class ArchiveRunner final : public Runner {
 public:
  ArchiveRunner(std::shared_ptr<Script> script, const Placement& placement)
      : Runner(placement), script_(std::move(script)) {}

  std::unique_ptr<Runner> share() const override {
    return std::make_unique<ArchiveRunner>(script_, placement_);
  }
  std::vector<at::Tensor> run() override { return script_->run(inputs_); }
  int64_t weight_bytes() const override { return script_->weight_bytes(); }
  std::vector<StepInfo> steps() const override { return script_->steps(); }
  const std::vector<std::string>& input_names() const { return script_->input_names(); }

  /// Warms up with zeros. An archive does not state the types of its inputs, so floating point is assumed.
  void warm_up(const std::map<std::string, tensor::Shape>& shapes) {
    for (const auto& [name, shape] : shapes) {
      if (std::find(input_names().begin(), input_names().end(), name) == input_names().end()) {
        fail_usage("the model has no input named '{}' ({})", name, fmt::join(input_names(), ", "));
      }
    }
    std::vector<at::Tensor> zeros;
    for (const std::string& name : input_names()) {
      const auto found = shapes.find(name);
      if (found == shapes.end()) fail_usage("the shape of input '{}' is missing", name);
      zeros.push_back(placement_.place(at::zeros(found->second, at::TensorOptions().dtype(at::kFloat))));
    }
    script_->warm_up(zeros);
  }

 private:
  std::shared_ptr<Script> script_;
};

class ArchiveExecutable final : public RunnerExecutable {
 public:
  ArchiveExecutable(const importer::Model& model, const LoadOptions& options, at::Device device)
      : RunnerExecutable(options, device), runner_(Script::read(model.file, placement_), placement_) {
    const c10::InferenceMode inference;
    if (!options.input_shapes.empty()) runner_.warm_up(options.input_shapes);
  }

 private:
  Runner& runner_for(std::span<const tensor::Tensor> inputs) override {
    if (inputs.size() != runner_.input_names().size()) {
      fail_bad_input("{} inputs given, the model takes {} ({})", inputs.size(), runner_.input_names().size(),
                     fmt::join(runner_.input_names(), ", "));
    }
    return runner_;
  }

  /// Results in the narrow type of the precision are returned as float32.
  tensor::DType output_type(size_t, const at::Tensor& output) const override {
    const at::ScalarType type = output.scalar_type();
    return type == placement_.scalar_type(at::kFloat) ? tensor::DType::kFloat32 : to_dtype(type);
  }

  const Runner* current() const override { return &runner_; }

  ArchiveRunner runner_;
};

}  // namespace

std::unique_ptr<Executable> make_archive_executable(const importer::Model& model, const LoadOptions& options,
                                                    at::Device device) {
  return std::make_unique<ArchiveExecutable>(model, options, device);
}

}  // namespace hone::backend::aten
