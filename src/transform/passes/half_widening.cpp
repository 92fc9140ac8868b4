// Rewrites computation in float16 or bfloat16 as float32, with casts at inputs and outputs, so that the
// kernels of an engine accept it and the engine's own precision decides how values are stored. Results are
// rounded less often than in the model, except before they become integers: 30 * 0.1 is 3 only in float16.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "graph/cast_node.hpp"
#include "graph/infer.hpp"
#include "graph/operator.hpp"
#include "graph/quantized_chain.hpp"
#include "graph/region.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

using graph::DType;
using graph::kNoValue;
using graph::Node;
using graph::Value;
using graph::ValueId;
using tensor::is_half;

bool any_half(const Graph& graph, const std::vector<ValueId>& ids) {
  return std::any_of(ids.begin(), ids.end(),
                     [&](ValueId id) { return id != kNoValue && is_half(graph.value(id).type.dtype); });
}

/// Operators that only move elements may use any type; other passes move them across casts.
bool only_moves(const Node& node) {
  return graph::traits_of(node).moves_only || node.op == "Cast" || node.op == "CastLike";
}

/// A node that computes in a 16-bit type; null if there is none.
const Node* computes_in_half(const Graph& graph) {
  const auto found = std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    return !only_moves(node) && (any_half(graph, node.inputs) || any_half(graph, node.outputs));
  });
  return found == graph.nodes.end() ? nullptr : &*found;
}

/// Changes 16-bit types and tensors in the attributes of a node to float32.
void widen_attributes(Node& node) {
  constexpr std::array<std::string_view, 4> kTypes = {"to", "dtype", "output_dtype", "output_datatype"};
  const graph::Attributes before = node.attributes;
  for (const auto& [name, attribute] : before) {
    if (const auto* tensor = std::get_if<graph::Tensor>(&attribute)) {
      if (is_half(tensor->dtype())) node.attributes.set(name, tensor->cast(DType::kFloat32));
    } else if (const auto* type = std::get_if<int64_t>(&attribute)) {
      if (std::find(kTypes.begin(), kTypes.end(), name) != kTypes.end() && is_half(static_cast<DType>(*type)))
        node.attributes.set(name, static_cast<int64_t>(DType::kFloat32));
    }
  }
}

/// True if a small difference of an input may become a large one.
bool makes_whole(const Graph& graph, const Node& node) {
  if (graph::traits_of(node).discontinuous) return true;
  if (node.op == "Shape" || node.op == "Size") return false;
  return std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
    return id != kNoValue && !tensor::is_floating(graph.value(id).type.dtype);
  });
}

/// Rounds the inputs of such nodes to 16 bits, as the model does; returns the values that stay in 16 bits for
/// this.
std::vector<ValueId> round_before_whole(Graph& graph) {
  std::vector<ValueId> narrow;
  std::vector<Node> nodes;
  for (Node& node : graph.nodes) {
    for (size_t i = 0; makes_whole(graph, node) && i < node.inputs.size(); ++i) {
      const ValueId from = node.inputs[i];
      if (from == kNoValue || !is_half(graph.value(from).type.dtype) || graph.value(from).constant) continue;
      const graph::TensorType type = graph.value(from).type;
      const std::string name = fmt::format("{}.{}", node.name, i);
      narrow.push_back(graph.add_value(name + ".half", type));
      node.inputs[i] = graph.add_value(name + ".float32", {DType::kFloat32, type.dims});
      nodes.push_back(graph::cast_node(name + ".rounded", from, narrow.back(), type.dtype));
      nodes.push_back(graph::cast_node(name + ".widened", narrow.back(), node.inputs[i], DType::kFloat32));
    }
    nodes.push_back(std::move(node));
  }
  graph.nodes = std::move(nodes);
  return narrow;
}

/// Pairs each 16-bit value that is visible to the caller with a float32 value that nodes use instead, and
/// adds the casts between them.
void separate_boundary(Graph& graph, std::vector<Node>& first, std::vector<Node>& last) {
  std::map<ValueId, ValueId> wide;
  const auto add_wide = [&](ValueId id) {
    const Value& value = graph.value(id);
    return wide[id] = graph.add_value(value.name + ".float32", {DType::kFloat32, value.type.dims});
  };
  for (const ValueId id : graph.inputs) {
    if (!is_half(graph.value(id).type.dtype)) continue;
    const ValueId to = add_wide(id);
    first.push_back(graph::cast_node(graph.value(id).name + ".widened", id, to, DType::kFloat32));
  }
  for (const ValueId id : graph.outputs) {
    const DType dtype = graph.value(id).type.dtype;
    if (!is_half(dtype) || wide.contains(id)) continue;
    const ValueId from = add_wide(id);
    std::swap(graph.value(from).constant, graph.value(id).constant);
    last.push_back(graph::cast_node(graph.value(id).name + ".narrowed", from, id, dtype));
  }
  const auto replace = [&](std::vector<ValueId>& ids) {
    for (ValueId& id : ids) {
      if (const auto found = wide.find(id); found != wide.end()) id = found->second;
    }
  };
  for (Node& node : graph.nodes) {
    replace(node.inputs);
    replace(node.outputs);
  }
}

/// The reason why the graph cannot be widened; empty if it was widened.
Refusal widen(Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (graph::has_body(node) && graph::kind_of(node) != graph::kQuantizedWeights)
      return fmt::format("{} holds a graph", node.text());
  }
  const std::vector<ValueId> narrow = round_before_whole(graph);
  for (Node& node : graph.nodes) {
    if (std::find_first_of(node.outputs.begin(), node.outputs.end(), narrow.begin(), narrow.end()) ==
        node.outputs.end())
      widen_attributes(node);
  }
  std::vector<Node> first;
  std::vector<Node> last;
  separate_boundary(graph, first, last);
  std::vector<bool> stays(graph.values.size(), false);
  for (const auto* ids : {&narrow, &std::as_const(graph.inputs), &std::as_const(graph.outputs)}) {
    for (const ValueId id : *ids) stays[static_cast<size_t>(id)] = true;
  }
  for (size_t i = 0; i < graph.values.size(); ++i) {
    Value& value = graph.values[i];
    if (stays[i]) continue;
    if (is_half(value.type.dtype)) value.type.dtype = DType::kFloat32;
    if (value.constant && is_half(value.constant->dtype()))
      value.constant = value.constant->cast(DType::kFloat32);
  }
  graph.nodes.insert(graph.nodes.begin(), first.begin(), first.end());
  graph.nodes.insert(graph.nodes.end(), last.begin(), last.end());
  try {
    graph::infer_types(graph);
  } catch (const Error& error) {
    return error.what();
  }
  if (const Node* node = computes_in_half(graph)) return fmt::format("{} keeps its type", node->text());
  return {};
}

}  // namespace

Summary half_widening(Graph& graph) {
  Summary summary;
  if (computes_in_half(graph) == nullptr) return summary;
  Graph wide = graph;
  if (const Refusal reason = widen(wide)) {
    summary.refuse("the model stays in float16 and bfloat16: " + reason.text());
    return summary;
  }
  graph = std::move(wide);
  summary.change("the model computes in float32 between casts of its inputs and outputs");
  return summary;
}

}  // namespace hone::transform
