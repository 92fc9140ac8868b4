// Runs a user's own TorchScript archive, whose forward says what it takes.
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>

#include "backend/torch/plugin/convert.hpp"
#include "backend/torch/plugin/executable.hpp"
#include "backend/torch/plugin/script.hpp"

namespace hone::backend::aten {
namespace {

class ArchiveExecutable final : public Executable {
 public:
  ArchiveExecutable(const importer::Model& model, const LoadOptions& options)
      : precision_(options.precision), threads_(options.threads) {
    use_threads(threads_);
    script_ = Script::read(model.file, precision_);
    warm_up(options.input_shapes);
  }

  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs) override {
    if (inputs.size() != script_->input_names().size()) {
      fail_bad_input("{} inputs given, the model takes {} ({})", inputs.size(), script_->input_names().size(),
                     fmt::join(script_->input_names(), ", "));
    }
    use_threads(threads_);
    const c10::InferenceMode inference;
    std::vector<at::Tensor> arguments;
    for (const tensor::Tensor& input : inputs) {
      const at::Tensor view = view_of(input);
      const bool narrow = precision_ == Precision::kBf16 && view.scalar_type() == at::kFloat;
      arguments.push_back(narrow ? view.to(at::kBFloat16) : view);
    }
    std::vector<tensor::Tensor> outputs;
    for (const at::Tensor& result : script_->run(arguments)) {
      const bool widen = precision_ == Precision::kBf16 && result.scalar_type() == at::kBFloat16;
      outputs.push_back(copy_of(result, widen ? tensor::DType::kFloat32 : to_dtype(result.scalar_type())));
    }
    return outputs;
  }

  MemoryUse memory() const override { return {.weights = script_->weight_bytes()}; }
  std::vector<StepInfo> steps() const override { return script_->steps(); }
  std::vector<std::string> notes() const override { return precision_notes(precision_); }

 private:
  /// An archive does not tell the element types of its inputs; only floating-point ones are warmed up.
  void warm_up(const std::map<std::string, tensor::Shape>& shapes) {
    if (shapes.empty()) return;
    for (const auto& [name, shape] : shapes) {
      const auto& names = script_->input_names();
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        fail_usage("the model has no input named '{}' ({})", name, fmt::join(names, ", "));
      }
    }
    const c10::InferenceMode inference;
    const auto type = precision_ == Precision::kBf16 ? at::kBFloat16 : at::kFloat;
    std::vector<at::Tensor> zeros;
    for (const std::string& name : script_->input_names()) {
      const auto found = shapes.find(name);
      if (found == shapes.end()) fail_usage("the shape of input '{}' is missing", name);
      zeros.push_back(at::zeros(found->second, at::TensorOptions().dtype(type)));
    }
    script_->warm_up(zeros);
  }

  Precision precision_;
  int threads_;
  std::unique_ptr<Script> script_;
};

}  // namespace

std::unique_ptr<Executable> make_archive_executable(const importer::Model& model,
                                                    const LoadOptions& options) {
  return std::make_unique<ArchiveExecutable>(model, options);
}

}  // namespace hone::backend::aten
