// Replaces a chain of nodes that only change the shape of their input with one Reshape, removes chains that
// end with the original shape, and gives a Reshape with a computed shape a constant one if possible.
#include "graph/operator.hpp"
#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

/// A transposition that only moves dimensions of size 1 keeps the elements in order.
bool keeps_order(const Graph& graph, const Node& transpose) {
  const graph::TensorType& type = graph.value(transpose.inputs[0]).type;
  if (!type.ranked() || !transpose.attributes.has("perm")) return false;
  int64_t last = -1;
  for (const int64_t axis : transpose.attributes.get_ints("perm")) {
    if ((*type.dims)[static_cast<size_t>(axis)].is(1)) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

bool is_view(const Graph& graph, const Node& node) {
  if (node.op == "Transpose") return keeps_order(graph, node);
  return graph::changes_shape_only(node);
}

/// The value at which a chain of views starts.
ValueId first_source(const Editor& editor, const Node& node) {
  ValueId source = node.inputs[0];
  for (int32_t maker = editor.producer(source); maker >= 0; maker = editor.producer(source)) {
    if (!is_view(editor.graph(), editor.node(maker))) break;
    source = editor.node(maker).inputs[0];
  }
  return source;
}

/// The shape input of a Reshape from one type to the other: 0 copies a dimension, and one -1 is derived.
std::optional<std::vector<int64_t>> reshape_target(const graph::TensorType& from,
                                                   const graph::TensorType& to) {
  if (!from.ranked() || !to.ranked()) return std::nullopt;
  std::vector<int64_t> target;
  bool derived = false;
  for (size_t i = 0; i < to.dims->size(); ++i) {
    const graph::Dim& dim = (*to.dims)[i];
    if (dim.is(0)) return std::nullopt;
    if (dim.known()) {
      target.push_back(dim.value());
    } else if (i < from.dims->size() && dim.same_as((*from.dims)[i])) {
      target.push_back(0);
    } else if (!derived) {
      target.push_back(-1);
      derived = true;
    } else {
      return std::nullopt;
    }
  }
  return target;
}

bool has_constant_shape(const Graph& graph, const Node& node) {
  return node.op != "Reshape" || graph.constant(node.inputs[1]) != nullptr;
}

void rewrite(Editor& editor, int32_t index, Summary& summary) {
  const Node node = editor.node(index);
  const ValueId source = first_source(editor, node);
  const bool chained = source != node.inputs[0];
  const graph::TensorType from = editor.graph().value(source).type;
  const graph::TensorType to = editor.graph().value(node.outputs[0]).type;
  if (chained && same_shape(from, to) && editor.forward(index, node.outputs[0], source)) {
    summary.change(fmt::format("'{}' ({}) removed: it restores a shape", node.name, node.op));
    return;
  }
  if (!chained && has_constant_shape(editor.graph(), node) && node.op != "Transpose") return;
  const auto target = reshape_target(from, to);
  if (!target) {
    summary.refuse(
        fmt::format("'{}' stays: the shape {} cannot be told before it runs", node.name, to.text()));
    return;
  }
  const Tensor shape = Tensor::of<int64_t>(*target, {static_cast<int64_t>(target->size())});
  Node reshape = derived_node(node, "Reshape", {source, editor.add_constant(node.name + ".shape", shape)});
  summary.change(
      fmt::format("'{}' ({}) reshapes '{}' at once", node.name, node.op, editor.graph().value(source).name));
  editor.replace(index, std::move(reshape));
}

}  // namespace

Summary reshape_cancellation(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (editor.alive(i) && is_view(graph, editor.node(i))) rewrite(editor, i, summary);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
