// See program.hpp.
#include "backend/torch/plugin/program.hpp"

#include <ATen/ops/zeros.h>

#include "backend/torch/plugin/convert.hpp"
#include "backend/torch/plugin/lowering.hpp"
#include "base/ranges.hpp"
#include "graph/operator.hpp"

namespace hone::backend::aten {

using graph::kNoValue;
using graph::ValueId;

namespace {

/// Types of activations, such as "float32 1x64x56x56".
std::vector<std::string> type_texts(const graph::Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<std::string> texts;
  for (const ValueId id : ids) {
    if (id != kNoValue && graph.constant(id) == nullptr) texts.push_back(graph.value(id).type.text());
  }
  return texts;
}

}  // namespace

std::vector<at::Tensor> Arguments::all() const {
  std::vector<at::Tensor> result;
  result.reserve(size());
  for (size_t i = 0; i < size(); ++i) result.push_back((*this)[i]);
  return result;
}

void Arguments::set(size_t i, at::Tensor value) {
  if (node_.has_output(i)) values_[static_cast<size_t>(node_.outputs[i])] = std::move(value);
}

Program::Program(std::shared_ptr<const graph::Graph> bound, const Placement& placement, std::string backend,
                 bool traced)
    : graph_(std::move(bound)), placement_(placement), values_(graph_->values.size()) {
  load_constants();
  for (const graph::Node& node : graph_->nodes) {
    steps_.push_back({&node, lower({*graph_, node, *this, backend, traced}), {}});
  }
  find_last_readers();
}

at::ScalarType Program::scalar_type(tensor::DType dtype) const {
  return placement_.scalar_type(to_scalar_type(dtype));
}

std::vector<at::Tensor> Program::zero_inputs() const {
  std::vector<at::Tensor> result;
  for (const ValueId id : graph_->inputs) {
    const graph::TensorType& type = graph_->value(id).type;
    std::vector<int64_t> shape;
    for (const graph::Dim& dim : *type.dims) shape.push_back(dim.value());
    result.push_back(
        placement_.place(at::zeros(shape, at::TensorOptions().dtype(to_scalar_type(type.dtype)))));
  }
  return result;
}

std::vector<StepInfo> Program::steps(const char* tactic) const {
  std::vector<StepInfo> result;
  const std::vector<std::vector<int32_t>> predecessors = graph::node_predecessors(*graph_);
  for (const graph::Node& node : graph_->nodes) {
    StepInfo& info = result.emplace_back(StepInfo{node.name, node.op, node.sources, tactic});
    info.inputs = type_texts(*graph_, node.inputs);
    info.outputs = type_texts(*graph_, node.outputs);
    info.predecessors = predecessors[result.size() - 1];
    const auto cost = graph::node_cost(*graph_, node);
    if (!cost) continue;
    info.flops = cost->flops;
    // The graph's types are those of fp32; storage in other precisions is decided by PyTorch.
    if (placement_.precision == Precision::kFp32 || placement_.precision == Precision::kTf32)
      info.bytes = cost->bytes;
  }
  return result;
}

void Program::load_constants() {
  for (size_t id = 0; id < values_.size(); ++id) {
    const auto& constant = graph_->values[id].constant;
    if (!constant) continue;
    values_[id] = placement_.place(torch_view_of(*constant));
    weight_bytes_ += static_cast<int64_t>(values_[id].nbytes());
  }
}

void Program::find_last_readers() {
  std::vector<Step*> last(values_.size(), nullptr);
  for (Step& step : steps_) {
    // An output without readers is released by the step that makes it.
    for (const ValueId id : step.node->outputs) {
      if (id != kNoValue) last[static_cast<size_t>(id)] = &step;
    }
    for (const ValueId id : step.node->inputs) {
      if (id != kNoValue) last[static_cast<size_t>(id)] = &step;
    }
  }
  for (const ValueId id : graph_->outputs) last[static_cast<size_t>(id)] = nullptr;
  for (size_t id = 0; id < last.size(); ++id) {
    if (last[id] != nullptr && !graph_->values[id].constant) {
      last[id]->dying.push_back(static_cast<ValueId>(id));
    }
  }
}

std::vector<at::Tensor> Program::run(std::vector<at::Tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    values_[static_cast<size_t>(graph_->inputs[i])] = std::move(inputs[i]);
  }
  for (const Step& step : steps_) {
    Arguments arguments(values_, *step.node);
    const base::Range range(step.node->name);
    try {
      step.operation(arguments);
    } catch (const Error& error) {
      throw error.within(step.node->text());
    } catch (const c10::Error& error) {
      throw Error(error_kind(error), "PyTorch says: " + message_line(error), step.node->text());
    }
    for (const ValueId id : step.dying) values_[static_cast<size_t>(id)].reset();
  }
  std::vector<at::Tensor> outputs;
  for (const ValueId id : graph_->outputs) outputs.push_back(values_[static_cast<size_t>(id)]);
  return outputs;
}

}  // namespace hone::backend::aten
