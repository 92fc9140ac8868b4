// The tactic that closes every list: runs the reference kernel of a node on plain operands.
#include <cstring>

#include "engine/program/program.hpp"
#include "reference/kernel.hpp"

namespace hone::engine {
namespace {

using tensor::Tensor;

class ReferenceKernel final : public Kernel {
 public:
  ReferenceKernel(graph::Node node, std::vector<TensorDesc> inputs, std::vector<TensorDesc> outputs)
      : node_(std::move(node)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  bool runs_on_host() const override { return true; }

  void run(const Run& run) const override {
    const auto& inputs = run.inputs;
    const auto& outputs = run.outputs;
    std::vector<Tensor> arguments(inputs.size());
    std::vector<const Tensor*> pointers(inputs.size(), nullptr);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs_[i].dtype == DType::kUndefined) continue;
      arguments[i] =
          Tensor(inputs_[i].dtype, inputs_[i].shape, static_cast<const std::byte*>(inputs[i]), nullptr);
      pointers[i] = &arguments[i];
    }
    const std::vector<Tensor> results = reference::run_node(node_, std::move(pointers));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] == nullptr) continue;
      if (results[i].shape() != outputs_[i].shape || results[i].dtype() != outputs_[i].dtype) {
        fail_internal("{} made {}[{}] as output {}, inference said {}", node_.text(),
                      tensor::dtype_name(results[i].dtype()), tensor::shape_text(results[i].shape()), i,
                      outputs_[i].text());
      }
      if (results[i].size() > 0) std::memcpy(outputs[i], results[i].bytes(), results[i].byte_size());
    }
  }

 private:
  graph::Node node_;
  std::vector<TensorDesc> inputs_;
  std::vector<TensorDesc> outputs_;
};

Offer offer_reference(const StepRequest& request, WeightStore&) {
  if (reference::find_kernel(request.node.op) == nullptr) {
    return Offer::refuse(fmt::format("operator {} has no reference kernel", request.node.op));
  }
  Offer offer;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const graph::ValueId id = request.node.inputs[i];
    if (id == graph::kNoValue) {
      offer.inputs.emplace_back();
      continue;
    }
    // Uses the graph's own type: a value that is stored in bfloat16 between steps is converted back.
    offer.inputs.push_back({request.graph.value(id).type.dtype, request.inputs[i].shape, Layout::kPlain});
  }
  offer.outputs = request.outputs;
  offer.kernel = std::make_shared<ReferenceKernel>(request.node, offer.inputs, offer.outputs);
  return offer;
}

}  // namespace

const Tactic& reference_tactic() {
  // It takes all operators: the engine asks it after the tactics of a device.
  static const Tactic kTactic{.name = "reference", .make = offer_reference};
  return kTactic;
}

}  // namespace hone::engine
