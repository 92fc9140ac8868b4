// Runs a model's graph. The graph is bound to the shapes of the inputs, and again when they change.
#include <c10/core/InferenceMode.h>

#include "backend/inputs.hpp"
#include "backend/torch/plugin/bind.hpp"
#include "backend/torch/plugin/convert.hpp"
#include "backend/torch/plugin/cuda.hpp"
#include "backend/torch/plugin/executable.hpp"
#include "backend/torch/plugin/layout.hpp"

namespace hone::backend::aten {
namespace {

class GraphExecutable final : public RunnerExecutable {
 public:
  GraphExecutable(const importer::Model& model, const LoadOptions& options, at::Device device,
                  MakeRunner make_runner)
      : RunnerExecutable(options, device), graph_(model.graph), make_runner_(make_runner) {
    if (binds_fully(*graph_, options.input_shapes)) bind(options.input_shapes);
  }

 private:
  Runner& runner_for(std::span<const tensor::Tensor> inputs) override {
    check_inputs(*graph_, inputs);
    if (runner_ == nullptr || !same_shapes(inputs)) bind(shapes_by_name(*graph_, inputs));
    return *runner_;
  }

  tensor::DType output_type(size_t i, const at::Tensor&) const override { return output_types_[i]; }
  const Runner* current() const override { return runner_.get(); }

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
      make_runner(std::move(bound));
    } catch (const c10::Error& error) {
      throw Error(error_kind(error), "PyTorch cannot load the model: " + message_line(error));
    }
  }

  void make_runner(BoundGraph bound) {
    if (placement_.device.is_cpu() || !convolves_images(*bound)) {
      runner_ = make_runner_(std::move(bound), placement_);
      return;
    }
    const Measure measure = [&](Runner& runner) { return measure_runs(*bound, runner); };
    ChosenRunner chosen = choose_layout(bound, placement_, make_runner_, measure);
    runner_ = std::move(chosen.runner);
    layout_note_ = std::move(chosen.note);
    // The model does not need the workspace in which cuDNN tried its algorithms.
    release_cache(placement_.device);
  }

  bool same_shapes(std::span<const tensor::Tensor> inputs) const {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].shape() != shapes_[i]) return false;
    }
    return true;
  }

  std::shared_ptr<const graph::Graph> graph_;
  MakeRunner make_runner_;
  /// The shapes of the inputs to which runner_ is bound.
  std::vector<tensor::Shape> shapes_;
  std::vector<tensor::DType> output_types_;
  std::unique_ptr<Runner> runner_;
};

}  // namespace

std::unique_ptr<Executable> make_graph_executable(const importer::Model& model, const LoadOptions& options,
                                                  at::Device device, MakeRunner make_runner) {
  return std::make_unique<GraphExecutable>(model, options, device, make_runner);
}

}  // namespace hone::backend::aten
