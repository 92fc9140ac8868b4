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
using tensor::TensorView;

std::vector<Tensor> Context::run(std::span<const Tensor> inputs) {
  reference::check_inputs(*engine().graph, inputs);
  std::vector<Shape> shapes;
  for (const Tensor& input : inputs) shapes.push_back(input.shape());
  check_profile(shapes);
  const std::vector<Shape> bound = program_shapes(engine(), shapes);
  if (bound != shapes) return run_groups(inputs, shapes[0][0], bound[0][0]);
  return execution(shapes)->run(inputs);
}

FindExecution Context::finder(std::span<const TensorView> inputs) {
  std::vector<Tensor> types;
  std::vector<Shape> shapes;
  for (const TensorView& input : inputs) {
    types.emplace_back(input.dtype, input.shape, input.data(), nullptr);
    shapes.push_back(input.shape);
  }
  reference::check_inputs(*engine().graph, types);
  check_profile(shapes);
  return [this](const std::vector<Shape>& of, const std::vector<Layout>& layouts) {
    return execution(of, layouts);
  };
}

Binding Context::bind(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                      const BindOptions& options) {
  return make_binding(loaded_, finder(inputs), inputs, outputs, options);
}

void Context::run(Binding& binding, const tensor::Queue* queue) {
  // The calling thread may differ from the previous one.
  device().set_threads(loaded_->threads());
  const tensor::Queue* const used = queue_for(queue);
  binding.run(used);
  if (used != queue) used->synchronize();
}

const std::vector<TensorView>& Context::run(std::span<const TensorView> inputs,
                                            std::span<const TensorView> outputs, const tensor::Queue* queue) {
  device().set_threads(loaded_->threads());
  const tensor::Queue* const used = queue_for(queue);
  const auto& made = loose_.run(
      loaded_, [&] { return finder(inputs); }, inputs, outputs, used);
  if (used != queue) used->synchronize();
  return made;
}

const tensor::Queue* Context::queue_for(const tensor::Queue* queue) {
  if (queue != nullptr) return queue;
  if (queue_ == nullptr) queue_ = device().make_queue();
  return queue_.get();
}

std::shared_ptr<Execution> Context::execution(std::span<const Shape> shapes,
                                              const std::vector<Layout>& layouts) {
  std::vector<Shape> bound = program_shapes(engine(), shapes);
  device().set_threads(loaded_->threads());
  const bool plain =
      std::all_of(layouts.begin(), layouts.end(), [](Layout l) { return l == Layout::kPlain; });
  const std::vector<Layout> named = plain ? std::vector<Layout>() : layouts;
  for (const Entry& known : executions_) {
    if (known.shapes == bound && known.layouts == named) return known.execution;
  }
  auto made = std::make_shared<Execution>(loaded_->program(bound, named), device());
  if (executions_.size() == kMaxExecutions) executions_.erase(executions_.begin());
  executions_.push_back({std::move(bound), named, made});
  return made;
}

void Context::check_profile(std::span<const Shape> shapes) const {
  for (size_t i = 0; i < shapes.size(); ++i) {
    const std::string& name = engine().graph->value(engine().graph->inputs[i]).name;
    const auto found = engine().shapes.find(name);
    if (found == engine().shapes.end()) continue;
    const Shape& shape = shapes[i];
    const auto& [min, opt, max] = found->second;
    bool inside = shape.size() == min.size() && shape.size() == max.size();
    for (size_t d = 0; inside && d < shape.size(); ++d) inside = shape[d] >= min[d] && shape[d] <= max[d];
    if (!inside && min == max) {
      fail_bad_input(
          "input '{}' has shape {}, the engine was built for {} only; hone build with --minShapes and "
          "--maxShapes "
          "makes one for a range",
          name, tensor::shape_text(shape), tensor::shape_text(min));
    }
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
    const std::vector<Tensor> results = execution(shapes)->run(part);
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

bool splits_by_batch(const graph::Graph& graph) {
  if (graph.inputs.empty()) return false;
  const graph::TensorType& first = graph.value(graph.inputs[0]).type;
  if (!first.ranked() || first.dims->empty() || first.dims->front().symbol().empty()) return false;
  const std::string batch = first.dims->front().symbol();
  const auto carries_batch = [&](graph::ValueId id) {
    const graph::TensorType& type = graph.value(id).type;
    if (!type.ranked() || type.dims->empty() || type.dims->front().symbol() != batch) return false;
    // The batch symbol must not occur in another dimension too.
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
    if (!graph::keeps_batch(graph, node, static_cast<int64_t>(rank))) return false;
    // Constants are weights, or are broadcast over the batch. Only a constant whose first dimension
    // corresponds to the batch could prevent splitting, and such a constant would have fixed the batch to a
    // number.
  }
  return true;
}

}  // namespace hone::engine
