// Removes nodes whose result equals one of their inputs.
#include <algorithm>

#include "graph/operator.hpp"
#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

bool is_one_of(std::string_view op, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), op) != list.end();
}

bool is_inference_dropout(const Graph& graph, const Node& node) {
  if (node.op != "Dropout" || node.has_output(1)) return false;
  return !node.has_input(2) || is_filled_with(graph, node.input(2), 0);
}

/// The operand of a binary operation whose other operand is its neutral element, else kNoValue.
ValueId neutral_operand(const Graph& graph, const Node& node) {
  const auto is_neutral = [&](size_t i) {
    const ValueId id = node.input(i);
    if (is_one_of(node.op, {"Add", "Sub"})) return is_filled_with(graph, id, 0);
    return is_filled_with(graph, id, 1);
  };
  if (!is_one_of(node.op, {"Add", "Sub", "Mul", "Div", "Pow"})) return kNoValue;
  if (is_neutral(1)) return node.inputs[0];
  if (is_one_of(node.op, {"Add", "Mul"}) && is_neutral(0)) return node.inputs[1];
  return kNoValue;
}

bool is_noop_transpose(const Node& node) {
  if (node.op != "Transpose" || !node.attributes.has("perm")) return false;
  const auto& perm = node.attributes.get_ints("perm");
  return std::is_sorted(perm.begin(), perm.end());
}

bool is_full_slice(const Graph& graph, const Node& node) {
  if (node.op != "Slice") return false;
  return !node.has_input(4) || is_filled_with(graph, node.input(4), 1);
}

/// True for a Resize with factors of 1 in which each pixel depends only on the same pixel.
bool is_noop_resize(const Graph& graph, const Node& node) {
  if (node.op != "Resize") return false;
  if (node.attributes.get_string("coordinate_transformation_mode") == "tf_crop_and_resize") return false;
  return !node.has_input(2) || is_filled_with(graph, node.input(2), 1);
}

/// The input that equals the node's only result if both have the same shape, else kNoValue.
ValueId candidate(const Graph& graph, const Node& node) {
  if (graph::traits_of(node).view || is_one_of(node.op, {"Cast", "CastLike", "Expand"}))
    return node.inputs[0];
  if (is_one_of(node.op, {"Concat", "Sum", "Max", "Min", "Mean"}) && node.inputs.size() == 1)
    return node.inputs[0];
  if (is_inference_dropout(graph, node) || is_noop_transpose(node) || is_full_slice(graph, node) ||
      is_noop_resize(graph, node)) {
    return node.inputs[0];
  }
  if (node.op == "Pad" && is_filled_with(graph, node.input(1), 0)) return node.inputs[0];
  if (node.op == "Tile" && is_filled_with(graph, node.input(1), 1)) return node.inputs[0];
  return neutral_operand(graph, node);
}

/// True for operators that keep the shape by definition, so that an unknown shape does not matter.
bool keeps_shape(const Node& node) {
  return is_one_of(node.op, {"Identity", "Cast", "CastLike", "Concat", "Sum", "Max", "Min", "Mean", "Dropout",
                             "Transpose", "Pad", "Tile"});
}

bool changes_nothing(const Graph& graph, const Node& node, ValueId input) {
  const graph::TensorType& from = graph.value(input).type;
  const graph::TensorType& to = graph.value(node.outputs[0]).type;
  if (from.dtype != to.dtype) return false;
  return keeps_shape(node) || same_shape(from, to);
}

/// Returns true if a node broadcasts this operand itself: the other one already has the result's shape.
bool broadcasts_operand(const Graph& graph, const Node& node, ValueId operand) {
  if (!is_one_of(node.op, {"Add", "Sub", "Mul", "Div"}) || node.inputs[0] == node.inputs[1]) return false;
  const ValueId other = node.inputs[node.inputs[0] == operand ? 1 : 0];
  return same_shape(graph.value(other).type, graph.value(node.outputs[0]).type);
}

/// Removes an Expand if all of its readers broadcast its input themselves.
bool skip_expand(Editor& editor, int32_t index) {
  const Graph& graph = editor.graph();
  const Node node = editor.node(index);
  if (node.op != "Expand" || editor.is_output(node.outputs[0])) return false;
  // The shape of an Expand may be smaller than its input, so both must be known.
  if (!graph.value(node.inputs[0]).type.ranked() || !graph.value(node.outputs[0]).type.fully_known())
    return false;
  const std::vector<int32_t> readers = editor.readers(node.outputs[0]);
  if (readers.empty() || !std::ranges::all_of(readers, [&](int32_t reader) {
        return broadcasts_operand(graph, editor.node(reader), node.outputs[0]);
      }))
    return false;
  editor.redirect(node.outputs[0], node.inputs[0]);
  editor.remove(index);
  return true;
}

}  // namespace

Summary identity_removal(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    const Node& node = editor.node(i);
    if (skip_expand(editor, i)) {
      summary.change(fmt::format("'{}' (Expand) left to its readers", node.name));
      continue;
    }
    const ValueId input = candidate(graph, node);
    if (input == kNoValue || !changes_nothing(graph, node, input)) continue;
    const std::string line = fmt::format("'{}' ({}) removed", node.name, node.op);
    const Node copy = node;
    if (editor.forward(i, copy.outputs[0], input)) {
      summary.change(line);
      continue;
    }
    if (copy.op == "Identity") continue;
    // A graph output must not be an alias of an input, a constant or another output.
    summary.change(fmt::format("'{}' ({}) became Identity", copy.name, copy.op));
    editor.replace(i, derived_node(copy, "Identity", {input}));
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
