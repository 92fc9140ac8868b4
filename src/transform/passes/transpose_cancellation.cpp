// Combines consecutive transpositions, also with elementwise nodes in between, and moves a transposition
// after a binary node whose operands are both transposed in the same way.
#include <algorithm>
#include <array>

#include "graph/operator.hpp"
#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"
#include "transform/pattern.hpp"

namespace hone::transform {
namespace {

using Perm = std::vector<int64_t>;

bool is_elementwise(const Node& node, size_t inputs) {
  return graph::traits_of(node).elementwise && node.inputs.size() == inputs;
}

/// Empty if the permutation is the default one of a value with unknown rank.
Perm perm_of(const Graph& graph, const Node& transpose) {
  if (transpose.attributes.has("perm")) return transpose.attributes.get_ints("perm");
  const graph::TensorType& type = graph.value(transpose.inputs[0]).type;
  Perm perm;
  for (size_t i = type.ranked() ? type.dims->size() : 0; i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  return perm;
}

/// True if the node computes each element of input `id` independently of its position.
bool ignores_order(const Graph& graph, const Node& node, ValueId id) {
  if (node.outputs.size() != 1) return false;
  if (is_elementwise(node, 1)) return true;
  if (node.op == "Clip") return node.inputs[0] == id;
  if (!is_elementwise(node, 2)) return false;
  const Tensor* other = graph.constant(other_operand(node, id));
  const graph::TensorType& type = graph.value(id).type;
  return other != nullptr && other->size() == 1 && type.ranked() &&
         other->rank() <= static_cast<int64_t>(type.dims->size());
}

/// The nodes from the reader of `id` to the next Transpose, inclusive; empty if the walk ends at another
/// node.
std::vector<int32_t> chain_to_transpose(const Editor& editor, ValueId id) {
  std::vector<int32_t> chain;
  for (int32_t reader = editor.single_reader(id); reader >= 0; reader = editor.single_reader(id)) {
    const Node& node = editor.node(reader);
    chain.push_back(reader);
    if (node.op == "Transpose") return chain;
    if (!ignores_order(editor.graph(), node, id)) return {};
    id = node.outputs[0];
  }
  return {};
}

/// Lets the nodes of the chain use the untransposed `source`; returns the result of the last one.
ValueId rewire(Editor& editor, const std::vector<int32_t>& chain, ValueId transposed, ValueId source) {
  for (size_t i = 0; i + 1 < chain.size(); ++i) {
    Node node = editor.node(chain[i]);
    std::replace(node.inputs.begin(), node.inputs.end(), transposed, source);
    transposed = node.outputs[0];
    const graph::Value& value = editor.graph().value(transposed);
    source = editor.add_value(value.name + ".untransposed", value.type.dtype);
    node.outputs[0] = source;
    editor.replace(chain[i], std::move(node));
  }
  return source;
}

void compose(Editor& editor, int32_t index, Summary& summary) {
  const Node first = editor.node(index);
  const auto chain = chain_to_transpose(editor, first.outputs[0]);
  if (chain.empty()) return;
  const Node second = editor.node(chain.back());
  const Perm inner = perm_of(editor.graph(), first);
  const Perm outer = perm_of(editor.graph(), second);
  if (inner.size() != outer.size() || inner.empty()) return;
  Perm perm;
  for (const int64_t axis : outer) perm.push_back(inner[static_cast<size_t>(axis)]);
  const ValueId source = rewire(editor, chain, first.outputs[0], first.inputs[0]);
  summary.change(fmt::format("'{}' and '{}' composed", first.name, second.name));
  editor.set_input(chain.back(), 0, source);
  editor.remove(index);
  if (std::is_sorted(perm.begin(), perm.end()) && editor.forward(chain.back(), second.outputs[0], source))
    return;
  Node composed = derived_node(second, "Transpose", {source});
  composed.attributes.set("perm", std::move(perm));
  join_names(composed, first, second);
  editor.replace(chain.back(), std::move(composed));
}

/// binary(transpose(a), transpose(b)) becomes transpose(binary(a, b)).
void pull_out(Editor& editor, int32_t index, Summary& summary) {
  const Node node = editor.node(index);
  const Graph& graph = editor.graph();
  const Node* left = editor.made_by(node.inputs[0], "Transpose");
  const Node* right = editor.made_by(node.inputs[1], "Transpose");
  if (left == nullptr || right == nullptr || left == right) return;
  const Perm perm = perm_of(graph, *left);
  if (perm.empty() || perm != perm_of(graph, *right)) return;
  for (const ValueId id : node.inputs) {
    if (editor.read_once(id)) continue;
    summary.refuse(fmt::format("'{}' keeps its transposed operands: '{}' is needed elsewhere", node.name,
                               graph.value(id).name));
    return;
  }
  Node moved = derived_node(node, node.op, {left->inputs[0], right->inputs[0]});
  moved.attributes = node.attributes;
  Node transpose = derived_node(node, "Transpose", {});
  join_names(transpose, *left, *right);
  transpose.attributes.set("perm", perm);
  const graph::DType dtype = graph.value(node.outputs[0]).type.dtype;
  summary.change(
      fmt::format("'{}' works on the operands of '{}' and '{}'", node.name, left->name, right->name));
  editor.remove(editor.producer(node.inputs[0]));
  editor.remove(editor.producer(node.inputs[1]));
  const ValueId result = editor.add_value(graph.value(node.outputs[0]).name + ".untransposed", dtype);
  moved.outputs = {result};
  transpose.inputs = {result};
  editor.replace(index, std::move(transpose));
  editor.insert_before(index, std::move(moved));
}

}  // namespace

Summary transpose_cancellation(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  const int32_t count = editor.count();
  for (int32_t i = 0; i < count; ++i) {
    if (!editor.alive(i)) continue;
    if (editor.node(i).op == "Transpose") compose(editor, i, summary);
    if (editor.alive(i) && is_elementwise(editor.node(i), 2)) pull_out(editor, i, summary);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
