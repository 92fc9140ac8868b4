// See dynamic_values.hpp.
#include "engine/program/dynamic_values.hpp"

#include "reference/kernel.hpp"

namespace hone::engine {

using tensor::Tensor;

DynamicValues::DynamicValues(const Program& program)
    : program_(program), values_(program.graph().values.size()) {}

void DynamicValues::run(const ProgramStep& step, const Fetch& fetch, const Store& store) {
  std::vector<Tensor> arguments(step.inputs.size());
  std::vector<const Tensor*> pointers(step.inputs.size(), nullptr);
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const Operand& operand = step.inputs[i];
    if (operand.storage == Operand::Storage::kAbsent) continue;
    if (operand.storage == Operand::Storage::kDynamic) {
      pointers[i] = &values_[static_cast<size_t>(operand.position)];
      continue;
    }
    arguments[i] = fetch(operand);
    pointers[i] = &arguments[i];
  }
  std::vector<Tensor> results;
  if (step.node >= 0) {
    results = reference::run_node(*program_.node_of(step), std::move(pointers));
  } else {
    results.push_back(pointers[0]->clone());
  }
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    const Operand& operand = step.outputs[i];
    if (operand.storage == Operand::Storage::kAbsent) continue;
    if (operand.storage == Operand::Storage::kDynamic) {
      // A view of an argument would dangle once the arena is reused.
      values_[static_cast<size_t>(operand.position)] = results[i].clone();
      continue;
    }
    const bool open = operand.storage == Operand::Storage::kOutput && operand.desc.dtype == DType::kUndefined;
    if (!open && results[i].shape() != operand.desc.shape) {
      fail_internal("{} made shape {}, inference said {}", step.name, tensor::shape_text(results[i].shape()),
                    tensor::shape_text(operand.desc.shape));
    }
    store(operand, results[i]);
  }
}

}  // namespace hone::engine
