// See bind.hpp.
#include "backend/torch/plugin/bind.hpp"

#include <algorithm>

#include "graph/infer.hpp"
#include "reference/kernel.hpp"

namespace hone::backend::aten {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::Value;
using graph::ValueId;

int64_t known_elements(const graph::TensorType& type) {
  int64_t count = 1;
  for (const graph::Dim& dim : *type.dims) count *= dim.value();
  return count;
}

/// Turns values whose elements shape inference knows into constants.
void fold_inferred(Graph& graph, const std::vector<bool>& is_input) {
  for (size_t i = 0; i < graph.values.size(); ++i) {
    Value& value = graph.values[i];
    if (is_input[i] || value.constant || !value.data || !graph::all_known(*value.data)) continue;
    if (!value.type.fully_known() || !tensor::is_integer(value.type.dtype)) continue;
    if (known_elements(value.type) != static_cast<int64_t>(value.data->size())) continue;
    std::vector<int64_t> elements;
    for (const graph::Dim& dim : *value.data) elements.push_back(dim.value());
    tensor::Shape shape;
    for (const graph::Dim& dim : *value.type.dims) shape.push_back(dim.value());
    value.constant = tensor::Tensor::of(elements, shape).cast(value.type.dtype);
  }
}

bool foldable(const Graph& graph, const Node& node) {
  if (reference::find_kernel(node.op) == nullptr) return false;
  for (const auto& [name, attribute] : node.attributes) {
    if (std::holds_alternative<std::shared_ptr<Graph>>(attribute)) return false;
  }
  for (const ValueId id : node.inputs) {
    if (id != kNoValue && graph.constant(id) == nullptr) return false;
  }
  return std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
    if (id == kNoValue) return true;
    const graph::TensorType& type = graph.value(id).type;
    return type.fully_known() && known_elements(type) <= kMaxFoldedElements;
  });
}

/// Computes nodes that depend only on constants with the reference kernels.
void fold_computed(Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (!foldable(graph, node)) continue;
    std::vector<const tensor::Tensor*> inputs;
    for (const ValueId id : node.inputs) inputs.push_back(graph.constant(id));
    std::vector<tensor::Tensor> results = reference::run_node(node, std::move(inputs));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.has_output(i)) graph.value(node.outputs[i]).constant = std::move(results[i]);
    }
  }
}

/// Removes nodes that no graph output depends on.
void remove_dead(Graph& graph) {
  std::vector<bool> needed(graph.values.size(), false);
  for (const ValueId id : graph.outputs) needed[static_cast<size_t>(id)] = true;
  std::vector<bool> dead(graph.nodes.size(), false);
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    dead[i] = std::none_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
      return id != kNoValue && needed[static_cast<size_t>(id)] && graph.constant(id) == nullptr;
    });
    if (dead[i]) continue;
    for (const ValueId id : node.inputs) {
      if (id != kNoValue) needed[static_cast<size_t>(id)] = true;
    }
  }
  graph.remove_nodes(dead);
  // Constants that have no reader left are not loaded.
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (!needed[i]) graph.values[i].constant.reset();
  }
}

}  // namespace

bool binds_fully(const Graph& graph, const std::map<std::string, tensor::Shape>& shapes) {
  return std::all_of(graph.inputs.begin(), graph.inputs.end(), [&](ValueId id) {
    const Value& value = graph.value(id);
    return value.type.fully_known() || shapes.contains(value.name);
  });
}

Graph bind_shapes(const Graph& graph, const std::map<std::string, tensor::Shape>& shapes) {
  Graph bound = graph::with_input_shapes(graph, shapes);
  std::vector<bool> is_input(bound.values.size(), false);
  for (const ValueId id : bound.inputs) is_input[static_cast<size_t>(id)] = true;
  fold_inferred(bound, is_input);
  fold_computed(bound);
  // Folded integers may be shapes of later nodes.
  graph::infer_types(bound);
  fold_computed(bound);
  remove_dead(bound);
  return bound;
}

}  // namespace hone::backend::aten
