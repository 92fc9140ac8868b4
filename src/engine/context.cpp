// See context.hpp.
#include "engine/context.hpp"

#include <algorithm>
#include <cstring>

#include "engine/shape_profile.hpp"
#include "graph/infer.hpp"
#include "graph/operator.hpp"
#include "reference/interpreter.hpp"

namespace hone::engine {

using tensor::Tensor;

std::vector<Tensor> Context::run(std::span<const Tensor> inputs) {
  reference::check_inputs(*engine().graph, inputs);
  check_profile(inputs);
  std::vector<Shape> shapes;
  for (const Tensor& input : inputs) shapes.push_back(input.shape());
  const std::vector<Shape> bound = program_shapes(engine(), shapes);
  if (bound != shapes) return run_groups(inputs, shapes[0][0], bound[0][0]);
  return execution(shapes).run(inputs);
}

Execution& Context::execution(std::span<const Shape> shapes) {
  std::vector<Shape> bound = program_shapes(engine(), shapes);
  // The calling thread may be another one than before.
  loaded_->device().set_threads(loaded_->threads());
  for (auto& [known, execution] : executions_) {
    if (known == bound) return *execution;
  }
  auto execution = std::make_unique<Execution>(loaded_->program(bound), loaded_->device());
  if (executions_.size() == kMaxExecutions) executions_.erase(executions_.begin());
  executions_.emplace_back(std::move(bound), std::move(execution));
  return *executions_.back().second;
}

void Context::check_profile(std::span<const Tensor> inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = engine().graph->value(engine().graph->inputs[i]).name;
    const auto found = engine().shapes.find(name);
    if (found == engine().shapes.end()) continue;
    const Shape& shape = inputs[i].shape();
    const auto& [min, opt, max] = found->second;
    bool inside = shape.size() == min.size() && shape.size() == max.size();
    for (size_t d = 0; inside && d < shape.size(); ++d) inside = shape[d] >= min[d] && shape[d] <= max[d];
    if (!inside) {
      fail_bad_input("input '{}' has shape {}, the engine was built for {}", name, tensor::shape_text(shape),
                     range_text(found->second));
    }
  }
}

std::vector<Tensor> Context::run_groups(std::span<const Tensor> inputs, int64_t batch, int64_t group) {
  std::vector<Tensor> outputs;
  for (int64_t first = 0; first < batch; first += group) {
    const int64_t count = std::min(group, batch - first);
    std::vector<Tensor> part;
    std::vector<Shape> shapes;
    for (const Tensor& input : inputs) {
      Shape shape = input.shape();
      shape[0] = count;
      const auto image = static_cast<int64_t>(input.byte_size()) / batch;
      part.emplace_back(input.dtype(), shape, input.bytes() + first * image, nullptr);
      shapes.push_back(std::move(shape));
    }
    const std::vector<Tensor> results = execution(shapes).run(part);
    for (size_t i = 0; i < results.size(); ++i) {
      if (first == 0) {
        Shape shape = results[i].shape();
        shape[0] = batch;
        outputs.emplace_back(results[i].dtype(), std::move(shape));
      }
      const auto image = static_cast<int64_t>(results[i].byte_size()) / count;
      if (results[i].size() > 0)
        std::memcpy(outputs[i].mutable_bytes() + first * image, results[i].bytes(), results[i].byte_size());
    }
  }
  return outputs;
}

namespace {

/// Whether the batch of every input is the output's first dimension: a variable of another rank (all of them
/// begin with the batch) is broadcast with its batch against channels or pixels.
bool batches_meet(const graph::Graph& graph, const graph::Node& node, size_t rank) {
  if (graph::changes_shape_only(node)) return true;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](graph::ValueId id) {
    if (id == graph::kNoValue || graph.value(id).constant) return true;
    return graph.value(id).type.ranked() && graph.value(id).type.dims->size() == rank;
  });
}

}  // namespace

bool splits_by_batch(const graph::Graph& graph) {
  if (graph.inputs.empty()) return false;
  const graph::TensorType& first = graph.value(graph.inputs[0]).type;
  if (!first.ranked() || first.dims->empty() || first.dims->front().symbol().empty()) return false;
  const std::string batch = first.dims->front().symbol();
  const auto carries_batch = [&](graph::ValueId id) {
    const graph::TensorType& type = graph.value(id).type;
    if (!type.ranked() || type.dims->empty() || type.dims->front().symbol() != batch) return false;
    // The batch must not hide in another dimension too.
    return std::all_of(type.dims->begin() + 1, type.dims->end(),
                       [](const graph::Dim& dim) { return dim.known(); });
  };
  if (!std::all_of(graph.inputs.begin(), graph.inputs.end(), carries_batch)) return false;
  if (!std::all_of(graph.outputs.begin(), graph.outputs.end(), carries_batch)) return false;
  for (const graph::Node& node : graph.nodes) {
    for (const graph::ValueId id : node.outputs) {
      if (id != graph::kNoValue && !carries_batch(id)) return false;
    }
    if (node.outputs.empty() || node.outputs[0] == graph::kNoValue) return false;
    const size_t rank = graph.value(node.outputs[0]).type.dims->size();
    if (!graph::keeps_batch(graph, node, static_cast<int64_t>(rank)) || !batches_meet(graph, node, rank))
      return false;
    // Constants are weights or broadcast over the batch; only those whose first dimension could meet it
    // matter, and such a constant would have fixed the batch to a number.
  }
  return true;
}

}  // namespace hone::engine
