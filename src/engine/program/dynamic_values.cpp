// See dynamic_values.hpp.
#include "engine/program/dynamic_values.hpp"

#include <algorithm>

#include "reference/kernel.hpp"

namespace hone::engine {

using tensor::Tensor;

namespace {

bool is_part_of(const Tensor& part, const Tensor& whole) {
  return whole.bytes() != nullptr && part.bytes() >= whole.bytes() &&
         part.bytes() < whole.bytes() + whole.byte_size();
}

}  // namespace

DynamicValues::DynamicValues(const Program& program)
    : program_(program),
      values_(program.graph().values.size()),
      states_(program.steps().size()),
      dying_(program.steps().size()) {
  std::vector<bool> is_read(values_.size(), false);
  for (size_t i = program.steps().size(); i-- > 0;) {
    const ProgramStep& step = program.steps()[i];
    if (step.node_kernel != nullptr) states_[i] = step.node_kernel->make_state();
    const auto note = [&](const Operand& operand) {
      if (operand.storage != Operand::Storage::kDynamic) return;
      const auto id = static_cast<size_t>(operand.position);
      if (!is_read[id]) dying_[i].push_back(operand.position);
      is_read[id] = true;
    };
    for (const Operand& operand : step.inputs) note(operand);
    for (const Operand& operand : step.outputs) note(operand);
  }
}

void DynamicValues::set_inputs(std::span<const Tensor> inputs) {
  const graph::Graph& graph = program_.graph();
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    if (!graph.value(graph.inputs[i]).type.fully_known())
      values_[static_cast<size_t>(graph.inputs[i])] = i < inputs.size() ? inputs[i] : Tensor();
  }
}

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
  const auto index = static_cast<size_t>(&step - program_.steps().data());
  std::vector<Tensor> results;
  if (step.node_kernel != nullptr) {
    results = step.node_kernel->run(pointers, *states_[index]);
  } else if (step.node >= 0) {
    results = reference::run_node(*program_.node_of(step), std::move(pointers));
  } else {
    results.push_back(*pointers[0]);
  }
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    const Operand& operand = step.outputs[i];
    if (operand.storage == Operand::Storage::kAbsent) continue;
    if (operand.storage == Operand::Storage::kDynamic) {
      // A result that is a view of an argument would become invalid when the arena is reused.
      const bool dangles = std::any_of(arguments.begin(), arguments.end(),
                                       [&](const Tensor& whole) { return is_part_of(results[i], whole); });
      values_[static_cast<size_t>(operand.position)] = dangles ? results[i].clone() : results[i];
      continue;
    }
    const bool open = operand.storage == Operand::Storage::kOutput && operand.desc.dtype == DType::kUndefined;
    if (!open && results[i].shape() != operand.desc.shape) {
      fail_internal("{} made shape {}, inference said {}", step.name, tensor::shape_text(results[i].shape()),
                    tensor::shape_text(operand.desc.shape));
    }
    store(operand, results[i]);
  }
  for (const int64_t id : dying_[index]) values_[static_cast<size_t>(id)] = Tensor();
}

}  // namespace hone::engine
