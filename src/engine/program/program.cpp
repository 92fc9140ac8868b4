// Queries of a program; program_builder.cpp builds one.
#include "engine/program/program.hpp"

#include <set>

#include "base/out_of_memory.hpp"

namespace hone::engine {

using tensor::Tensor;

const graph::Node* Program::node_of(const ProgramStep& step) const {
  if (step.is_piece()) return &pieces_.at(step.key());
  return step.node < 0 ? nullptr : &graph_->nodes[static_cast<size_t>(step.node)];
}

std::vector<std::string> texts_of(const std::vector<TacticRefusal>& refusals) {
  std::vector<std::string> texts;
  for (const auto& [tactic, reason] : refusals)
    texts.push_back(fmt::format("{}: {}", tactic.text(), reason.text()));
  return texts;
}

bool ProgramStep::copies_bytes() const {
  return node < 0 && kind == "Copy" && kernel != nullptr && same_arrangement(inputs[0].desc, outputs[0].desc);
}

int64_t Program::constant_bytes() const {
  std::set<std::pair<const void*, int64_t>> seen;
  int64_t bytes = 0;
  for (const ProgramStep& step : steps_) {
    for (const Operand& operand : step.inputs) {
      if (operand.storage == Operand::Storage::kConstant && operand.data != nullptr &&
          seen.emplace(operand.data, operand.desc.bytes()).second)
        bytes += operand.desc.bytes();
    }
  }
  return bytes;
}

int64_t Program::io_bytes() const {
  int64_t bytes = 0;
  for (const auto* ids : {&graph_->inputs, &graph_->outputs}) {
    for (const graph::ValueId id : *ids) {
      const graph::TensorType& type = graph_->value(id).type;
      if (!type.fully_known()) continue;
      TensorDesc desc{type.dtype, {}, Layout::kPlain};
      for (const graph::Dim& dim : *type.dims) desc.shape.push_back(dim.value());
      bytes += desc.bytes();
    }
  }
  return bytes;
}

std::vector<Tensor> Program::make_outputs() const {
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
    try {
      outputs.emplace_back(type.dtype, std::move(shape));
    } catch (const Error& error) {
      rethrow_within(error, fmt::format("output '{}'", graph_->value(id).name));
    }
  }
  return outputs;
}

}  // namespace hone::engine
