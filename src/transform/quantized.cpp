// See quantized.hpp.
#include "transform/quantized.hpp"

#include <algorithm>

namespace hone::transform {
namespace {

bool is_single_constant(const Graph& graph, ValueId id) {
  const Tensor* constant = id == kNoValue ? nullptr : graph.constant(id);
  return constant != nullptr && constant->size() == 1;
}

/// True if the numbers have one constant float32 scale, and one constant zero point or none.
bool has_single_scale(const Editor& editor, const Quantized& q) {
  const Graph& graph = editor.graph();
  if (!is_single_constant(graph, q.scale) || dtype_of(editor, q.scale) != DType::kFloat32) return false;
  // Scales that are not finite and positive are left to the operators themselves.
  const double scale = graph.constant(q.scale)->to_double()[0];
  if (!(scale > 0) || !std::isfinite(scale)) return false;
  return q.zero_point == kNoValue || is_single_constant(graph, q.zero_point);
}

}  // namespace

DType dtype_of(const Editor& editor, ValueId id) { return editor.graph().value(id).type.dtype; }

std::optional<Quantized> dequantized(const Editor& editor, ValueId id) {
  const Node* node = editor.made_by(id, "DequantizeLinear");
  if (node == nullptr || node->attributes.get_int("block_size") != 0) return std::nullopt;
  return Quantized{node->inputs[0], node->inputs[1], node->input(2)};
}

std::optional<Quantized> dequantized_bytes(const Editor& editor, ValueId id) {
  const auto found = dequantized(editor, id);
  if (!found || !is_byte(dtype_of(editor, found->value)) || !has_single_scale(editor, *found))
    return std::nullopt;
  return found;
}

bool quantizes_to_bytes(const Editor& editor, const Node& node) {
  return node.op == "QuantizeLinear" && node.attributes.get_int("block_size") == 0 &&
         is_byte(dtype_of(editor, node.outputs[0])) && dtype_of(editor, node.inputs[0]) == DType::kFloat32 &&
         has_single_scale(editor, {node.outputs[0], node.inputs[1], node.input(2)});
}

int64_t zero_point_of(const Graph& graph, ValueId zero_point) {
  return zero_point == kNoValue ? 0 : static_cast<int64_t>(graph.constant(zero_point)->to_double()[0]);
}

bool same_scales(const Graph& graph, const Quantized& a, const Quantized& b) {
  return graph.constant(a.scale)->to_double() == graph.constant(b.scale)->to_double() &&
         zero_point_of(graph, a.zero_point) == zero_point_of(graph, b.zero_point);
}

Node twin_of(const Node& node, std::string op, std::vector<ValueId> inputs, ValueId output) {
  Node twin;
  twin.name = node.name;
  twin.sources = node.sources;
  twin.op = std::move(op);
  twin.inputs = std::move(inputs);
  while (!twin.inputs.empty() && twin.inputs.back() == kNoValue) twin.inputs.pop_back();
  twin.outputs = {output};
  return twin;
}

void remove_unread(Editor& editor, std::vector<ValueId> values) {
  while (!values.empty()) {
    const ValueId id = values.back();
    values.pop_back();
    if (id == kNoValue || editor.producer(id) < 0) continue;
    const int32_t index = editor.producer(id);
    const std::vector<ValueId> outputs = editor.node(index).outputs;
    const bool unread = std::all_of(outputs.begin(), outputs.end(), [&](ValueId output) {
      return output == kNoValue || (editor.read_count(output) == 0 && !editor.is_output(output));
    });
    if (!unread) continue;
    const std::vector<ValueId> inputs = editor.node(index).inputs;
    editor.remove(index);
    values.insert(values.end(), inputs.begin(), inputs.end());
  }
}

}  // namespace hone::transform
