// Running a program; building one is in program_builder.cpp.
#include "engine/program.hpp"

#include <chrono>
#include <cstring>

#include "reference/interpreter.hpp"
#include "reference/kernel.hpp"

namespace hone::engine {

using tensor::Tensor;

std::vector<Tensor> Program::run(std::span<const Tensor> inputs, std::vector<double>* step_times) {
  reference::check_inputs(*graph_, inputs);
  std::vector<Tensor> outputs;
  outputs.reserve(graph_->outputs.size());
  for (const graph::ValueId id : graph_->outputs) {
    const graph::TensorType& type = graph_->value(id).type;
    if (!type.fully_known()) {
      outputs.emplace_back();
      continue;
    }
    Shape shape;
    for (const graph::Dim& dim : *type.dims) shape.push_back(dim.value());
    outputs.emplace_back(type.dtype, std::move(shape));
  }
  if (step_times != nullptr) step_times->assign(steps_.size(), 0.0);
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (step_times == nullptr) {
      run_step(steps_[i], inputs, outputs);
      continue;
    }
    const auto begin = std::chrono::steady_clock::now();
    run_step(steps_[i], inputs, outputs);
    const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - begin;
    (*step_times)[i] = elapsed.count();
  }
  return outputs;
}

void* Program::address(const Operand& operand, std::span<const Tensor> inputs, std::vector<Tensor>& outputs) {
  switch (operand.place) {
    case Operand::Place::kArena: return arena_.mutable_bytes() + operand.position;
    case Operand::Place::kInput:
      return const_cast<std::byte*>(inputs[static_cast<size_t>(operand.position)].bytes());
    case Operand::Place::kOutput: return outputs[static_cast<size_t>(operand.position)].mutable_bytes();
    case Operand::Place::kConstant: return const_cast<void*>(operand.data);
    case Operand::Place::kAbsent:
    case Operand::Place::kDynamic: break;
  }
  return nullptr;
}

void Program::run_step(const ProgramStep& step, std::span<const Tensor> inputs,
                       std::vector<Tensor>& outputs) {
  if (step.kernel == nullptr) {
    run_dynamic(step, inputs, outputs);
    return;
  }
  for (size_t i = 0; i < step.inputs.size(); ++i)
    input_pointers_[i] = address(step.inputs[i], inputs, outputs);
  for (size_t i = 0; i < step.outputs.size(); ++i)
    output_pointers_[i] = address(step.outputs[i], inputs, outputs);
  step.kernel->run({input_pointers_.data(), step.inputs.size()},
                   {output_pointers_.data(), step.outputs.size()}, scratch_.mutable_bytes());
}

void Program::run_dynamic(const ProgramStep& step, std::span<const Tensor> inputs,
                          std::vector<Tensor>& outputs) {
  std::vector<Tensor> arguments(step.inputs.size());
  std::vector<const Tensor*> pointers(step.inputs.size(), nullptr);
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const Operand& operand = step.inputs[i];
    if (operand.place == Operand::Place::kAbsent) continue;
    if (operand.place == Operand::Place::kDynamic) {
      pointers[i] = &dynamic_[static_cast<size_t>(operand.position)];
      continue;
    }
    const auto* bytes = static_cast<const std::byte*>(address(operand, inputs, outputs));
    arguments[i] = Tensor(operand.desc.dtype, operand.desc.shape, bytes, nullptr);
    pointers[i] = &arguments[i];
  }
  std::vector<Tensor> results;
  if (step.node >= 0) {
    results = reference::run_node(graph_->nodes[static_cast<size_t>(step.node)], std::move(pointers));
  } else {
    results.push_back(pointers[0]->clone());
  }
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    const Operand& operand = step.outputs[i];
    if (operand.place == Operand::Place::kAbsent) continue;
    if (operand.place == Operand::Place::kDynamic) {
      // A view of an argument would dangle once the arena is reused.
      dynamic_[static_cast<size_t>(operand.position)] = results[i].clone();
      continue;
    }
    if (operand.place == Operand::Place::kOutput && operand.desc.dtype == DType::kUndefined) {
      outputs[static_cast<size_t>(operand.position)] = results[i].clone();
      continue;
    }
    if (results[i].shape() != operand.desc.shape) {
      fail_internal("{} made shape {}, inference said {}", step.name, tensor::shape_text(results[i].shape()),
                    tensor::shape_text(operand.desc.shape));
    }
    if (results[i].size() > 0)
      std::memcpy(address(operand, inputs, outputs), results[i].bytes(), results[i].byte_size());
  }
}

}  // namespace hone::engine
