// Runs a model's graph: bound to the shapes of the inputs at hand, and anew when they change.
#include <c10/core/InferenceMode.h>

#include "backend/inputs.hpp"
#include "backend/torch/plugin/bind.hpp"
#include "backend/torch/plugin/convert.hpp"
#include "backend/torch/plugin/executable.hpp"

namespace hone::backend::aten {
namespace {

class GraphExecutable final : public Executable {
 public:
  GraphExecutable(const importer::Model& model, const LoadOptions& options, MakeRunner make_runner)
      : graph_(model.graph),
        precision_(options.precision),
        threads_(options.threads),
        make_runner_(make_runner) {
    use_threads(threads_);
    if (binds_fully(*graph_, options.input_shapes)) bind(options.input_shapes);
  }

  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs) override {
    check_inputs(*graph_, inputs);
    use_threads(threads_);
    if (runner_ == nullptr || !same_shapes(inputs)) bind(shapes_by_name(*graph_, inputs));
    const c10::InferenceMode inference;
    std::vector<at::Tensor> arguments;
    for (const tensor::Tensor& input : inputs) {
      const at::Tensor view = view_of(input);
      const bool narrow = precision_ == Precision::kBf16 && view.scalar_type() == at::kFloat;
      arguments.push_back(narrow ? view.to(at::kBFloat16) : view);
    }
    const std::vector<at::Tensor> results = runner_->run(std::move(arguments));
    std::vector<tensor::Tensor> outputs;
    for (size_t i = 0; i < results.size(); ++i) outputs.push_back(copy_of(results[i], output_types_[i]));
    return outputs;
  }

  MemoryUse memory() const override { return {.weights = runner_ ? runner_->weight_bytes() : 0}; }
  std::vector<StepInfo> steps() const override {
    return runner_ ? runner_->steps() : std::vector<StepInfo>();
  }
  std::vector<std::string> notes() const override { return precision_notes(precision_); }

 private:
  void bind(const std::map<std::string, tensor::Shape>& shapes) {
    runner_.reset();
    auto bound = std::make_shared<const graph::Graph>(bind_shapes(*graph_, shapes));
    shapes_.clear();
    output_types_.clear();
    for (const graph::ValueId id : bound->inputs) {
      tensor::Shape& shape = shapes_.emplace_back();
      for (const graph::Dim& dim : *bound->value(id).type.dims) shape.push_back(dim.value());
    }
    for (const graph::ValueId id : bound->outputs) output_types_.push_back(bound->value(id).type.dtype);
    const c10::InferenceMode inference;
    try {
      runner_ = make_runner_(std::move(bound), precision_);
    } catch (const c10::Error& error) {
      fail_bad_input("PyTorch cannot load the model: {}", message_line(error));
    }
  }

  bool same_shapes(std::span<const tensor::Tensor> inputs) const {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].shape() != shapes_[i]) return false;
    }
    return true;
  }

  std::shared_ptr<const graph::Graph> graph_;
  Precision precision_;
  int threads_;
  MakeRunner make_runner_;
  /// What runner_ is bound to.
  std::vector<tensor::Shape> shapes_;
  std::vector<tensor::DType> output_types_;
  std::unique_ptr<Runner> runner_;
};

}  // namespace

std::unique_ptr<Executable> make_graph_executable(const importer::Model& model, const LoadOptions& options,
                                                  MakeRunner make_runner) {
  return std::make_unique<GraphExecutable>(model, options, make_runner);
}

}  // namespace hone::backend::aten
