// Replaces division by the root of a smaller tensor, or by the norm of a row, with multiplication by its
// reciprocal, because there are fewer reciprocals than quotients, and products can be fused. The reciprocal
// of a root is never out of range: the root of the smallest number is about 2^-75 in float32 and 2^-12 in
// float16.
#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

/// True if `type` has a single element along a dimension where `other` has several or an open number.
bool is_smaller(const graph::TensorType& type, const graph::TensorType& other) {
  if (!broadcasts_into(type, other)) return false;
  const size_t ahead = other.dims->size() - type.dims->size();
  for (size_t d = 0; d < other.dims->size(); ++d) {
    const bool one = d < ahead || (*type.dims)[d - ahead].is(1);
    const graph::Dim& dim = (*other.dims)[d];
    if (one && (!dim.known() || dim.value() > 1)) return true;
  }
  return false;
}

/// The least lower bound of a norm whose reciprocal is safely in range.
constexpr double kLeastBound = 1e-30;

/// Returns true if the value is a root, a norm, or a norm with a lower bound as in PyTorch's normalize().
bool is_root(const Editor& editor, ValueId id) {
  if (editor.made_by(id, "Sqrt") != nullptr || editor.made_by(id, "ReduceL2") != nullptr) return true;
  for (const char* const op : {"Clip", "Max"}) {
    const Node* const bounded = editor.made_by(id, op);
    if (bounded == nullptr || bounded->inputs.size() != 2) continue;
    const auto bound = scalar_constant(editor.graph(), bounded->inputs[1]);
    if (bound && *bound >= kLeastBound && editor.made_by(bounded->inputs[0], "ReduceL2") != nullptr)
      return true;
  }
  return false;
}

}  // namespace

Summary division_by_root(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  const int32_t count = editor.count();
  for (int32_t i = 0; i < count; ++i) {
    const Node node = editor.node(i);
    if (node.op != "Div" || !is_root(editor, node.inputs[1])) continue;
    const graph::TensorType& dividend = editor.graph().value(node.inputs[0]).type;
    const graph::TensorType& root = editor.graph().value(node.inputs[1]).type;
    if (!dividend.ranked() || !root.ranked() || !is_smaller(root, dividend)) continue;
    Node reciprocal = derived_node(node, "Reciprocal", {node.inputs[1]});
    const ValueId factor = editor.add_value(node.name + ".factor", root.dtype);
    reciprocal.name += ".factor";
    reciprocal.outputs = {factor};
    editor.insert_before(i, std::move(reciprocal));
    summary.change(fmt::format("'{}' became a product", node.name));
    editor.replace(i, derived_node(node, "Mul", {node.inputs[0], factor}));
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
