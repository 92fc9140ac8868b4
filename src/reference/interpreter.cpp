// See interpreter.hpp.
#include "reference/interpreter.hpp"

#include <map>

#include "reference/kernel.hpp"

namespace hone::reference {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using tensor::Tensor;

void check_input(const graph::Value& value, const Tensor& tensor) {
  const auto mismatch = [&] {
    fail_bad_input("input '{}' is {}[{}], the model expects {}", value.name,
                   tensor::dtype_name(tensor.dtype()), tensor::shape_text(tensor.shape()), value.type.text());
  };
  if (value.type.dtype != tensor::DType::kUndefined && value.type.dtype != tensor.dtype()) mismatch();
  if (!value.type.ranked()) return;
  if (value.type.dims->size() != tensor.shape().size()) mismatch();
  for (size_t i = 0; i < tensor.shape().size(); ++i) {
    const graph::Dim& dim = (*value.type.dims)[i];
    if (dim.known() && dim.value() != tensor.shape()[i]) mismatch();
  }
}

/// For each node, the values that no later node reads.
std::vector<std::vector<ValueId>> last_readers(const Graph& graph) {
  std::vector<int64_t> last(graph.values.size(), -1);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const ValueId id : graph.nodes[i].inputs) {
      if (id != kNoValue) last[static_cast<size_t>(id)] = static_cast<int64_t>(i);
    }
  }
  for (const ValueId id : graph.outputs) last[static_cast<size_t>(id)] = -1;
  std::vector<std::vector<ValueId>> result(graph.nodes.size());
  for (size_t id = 0; id < last.size(); ++id) {
    if (last[id] >= 0) result[static_cast<size_t>(last[id])].push_back(static_cast<ValueId>(id));
  }
  return result;
}

}  // namespace

void check_inputs(const Graph& graph, std::span<const Tensor> inputs) {
  if (inputs.size() != graph.inputs.size()) {
    fail_bad_input("{} inputs given, the model has {}", inputs.size(), graph.inputs.size());
  }
  std::vector<tensor::Shape> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_input(graph.value(graph.inputs[i]), inputs[i]);
    shapes.push_back(inputs[i].shape());
  }
  if (const std::string conflict = symbol_conflict(graph, shapes); !conflict.empty())
    fail_bad_input("{}", conflict);
}

std::string symbol_conflict(const Graph& graph, std::span<const tensor::Shape> shapes) {
  std::map<std::string, std::pair<ValueId, int64_t>> known;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const graph::Value& value = graph.value(graph.inputs[i]);
    if (!value.type.ranked()) continue;
    for (size_t d = 0; d < shapes[i].size() && d < value.type.dims->size(); ++d) {
      const std::string& symbol = (*value.type.dims)[d].symbol();
      if (symbol.empty()) continue;
      const auto& [first, size] = known.try_emplace(symbol, graph.inputs[i], shapes[i][d]).first->second;
      if (size == shapes[i][d]) continue;
      return fmt::format("dimension '{}' is {} in input '{}' and {} in input '{}'", symbol, size,
                         graph.value(first).name, shapes[i][d], value.name);
    }
  }
  return "";
}

std::vector<Tensor> run_graph(const Graph& graph, std::span<const Tensor> inputs,
                              const NodeObserver& observer) {
  check_inputs(graph, inputs);
  std::vector<Tensor> values(graph.values.size());
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].constant) values[i] = *graph.values[i].constant;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    values[static_cast<size_t>(graph.inputs[i])] = inputs[i];
  }
  const auto dying = last_readers(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    std::vector<const Tensor*> arguments;
    for (const ValueId id : node.inputs) {
      arguments.push_back(id == kNoValue ? nullptr : &values[static_cast<size_t>(id)]);
    }
    std::vector<Tensor> results = run_node(node, std::move(arguments));
    if (observer) observer(node, results);
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      if (node.has_output(k)) values[static_cast<size_t>(node.outputs[k])] = std::move(results[k]);
    }
    for (const ValueId id : dying[i]) values[static_cast<size_t>(id)] = Tensor();
  }
  std::vector<Tensor> outputs;
  for (const ValueId id : graph.outputs) outputs.push_back(values[static_cast<size_t>(id)]);
  return outputs;
}

}  // namespace hone::reference
