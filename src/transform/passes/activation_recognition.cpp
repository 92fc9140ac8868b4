// Recognizes activations that exporters write as several nodes: x * sigmoid(x), x * hard_sigmoid(x), hard
// swish from additions and clips, x * tanh(softplus(x)), and maxima and minima with a scalar.
#include <cmath>

#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"
#include "transform/pattern.hpp"
#include "transform/ranges.hpp"

namespace hone::transform {
namespace {

/// Returns x if the value is Clip(x + 3, 0, 6), and adds its producers to the match.
std::optional<ValueId> shifted_clip(const Editor& editor, ValueId id, Match& match) {
  const Node* clip = editor.made_by(id, "Clip");
  if (clip == nullptr || !is_filled_with(editor.graph(), clip->input(1), 0)) return std::nullopt;
  if (!is_filled_with(editor.graph(), clip->input(2), 6)) return std::nullopt;
  match.take(editor, id);
  return minus_scalar(editor, clip->inputs[0], 3, match);
}

bool is_hard_swish_gate(const Node& node) {
  return is_about(node.attributes.get_float("alpha"), 1.0 / 6) && node.attributes.get_float("beta") == 0.5f;
}

/// swish(x) = x * sigmoid(alpha * x), if `gate` is the second factor.
std::optional<Node> swish(const Editor& editor, ValueId x, ValueId gate, Match& match) {
  const Node* sigmoid = editor.made_by(gate, "Sigmoid");
  if (sigmoid == nullptr) return std::nullopt;
  double alpha = 1;
  match.take(editor, gate);
  if (sigmoid->inputs[0] != x) {
    const int32_t maker = editor.producer(sigmoid->inputs[0]);
    if (maker < 0) return std::nullopt;
    match.inside.push_back(maker);
    const auto product = product_of(editor, maker, match);
    if (!product || product->factors != std::vector<ValueId>{x}) return std::nullopt;
    alpha = product->scale;
  }
  Node node;
  node.inputs = {x};
  PostOps post_ops;
  post_ops.add("swish", static_cast<float>(alpha));
  set_post_ops(node, "FusedElementwise", post_ops);
  return node;
}

/// The activation that equals x * gate.
std::optional<Node> gated(const Editor& editor, const Node& product, ValueId x, ValueId gate, Match& match) {
  if (const Node* hard = editor.made_by(gate, "HardSigmoid"); hard != nullptr && hard->inputs[0] == x) {
    if (!is_hard_swish_gate(*hard)) return std::nullopt;
    match.take(editor, gate);
    return derived_node(product, "HardSwish", {x});
  }
  if (const Node* tanh = editor.made_by(gate, "Tanh")) {
    const Node* softplus = editor.made_by(tanh->inputs[0], "Softplus");
    if (softplus == nullptr || softplus->inputs[0] != x) return std::nullopt;
    match.take(editor, gate);
    match.take(editor, tanh->inputs[0]);
    return derived_node(product, "Mish", {x});
  }
  return swish(editor, x, gate, match);
}

bool recognise_gated(Editor& editor, int32_t index, Summary& summary) {
  const Node product = editor.node(index);
  if (product.op != "Mul") return false;
  for (const size_t i : {0, 1}) {
    Match match{index, {}};
    auto node = gated(editor, product, product.inputs[i], product.inputs[1 - i], match);
    if (node) return replace_match(editor, match, std::move(*node), summary);
  }
  return false;
}

/// Clip(x + 3, 0, 6) / 6 is HardSigmoid, and its product with x is HardSwish. Neither exists for integers,
/// whose division is different.
bool recognise_hard(Editor& editor, int32_t index, Summary& summary) {
  const ValueId result = editor.node(index).outputs[0];
  if (!tensor::is_floating(editor.graph().value(result).type.dtype)) return false;
  Match match{index, {}};
  const auto product = product_of(editor, index, match);
  if (!product || !is_about(product->scale, 1.0 / 6) || product->factors.empty()) return false;
  const auto& factors = product->factors;
  for (size_t i = 0; i < factors.size() && factors.size() <= 2; ++i) {
    Match whole = match;
    const auto x = shifted_clip(editor, factors[i], whole);
    if (!x || (factors.size() == 2 && factors[1 - i] != *x)) continue;
    Node node = derived_node(editor.node(index), factors.size() == 2 ? "HardSwish" : "HardSigmoid", {*x});
    if (factors.size() == 1) {
      node.attributes.set("alpha", 1.0f / 6);
      node.attributes.set("beta", 0.5f);
    }
    return replace_match(editor, whole, std::move(node), summary);
  }
  return false;
}

/// Max(x, c) and Min(x, c) with a scalar c are Clip, unless c is NaN, which they propagate but Clip ignores.
bool recognise_extremum(Editor& editor, int32_t index, Summary& summary) {
  const Node node = editor.node(index);
  if ((node.op != "Max" && node.op != "Min") || node.inputs.size() != 2) return false;
  const graph::TensorType type = editor.graph().value(node.outputs[0]).type;
  for (const size_t i : {0, 1}) {
    const auto bound = scalar_constant(editor.graph(), node.inputs[i]);
    const ValueId x = node.inputs[1 - i];
    if (!bound || std::isnan(*bound) || !tensor::is_floating(type.dtype) ||
        !same_shape(editor.graph().value(x).type, type))
      continue;
    const ValueId limit =
        editor.add_constant(node.name + ".bound", floating_tensor(type.dtype, {}, {*bound}));
    Node clip = derived_node(node, "Clip", {x, limit});
    if (node.op == "Min") clip.inputs = {x, kNoValue, limit};
    return replace_match(editor, {index, {}}, std::move(clip), summary);
  }
  return false;
}

/// Clip at 0 without an upper bound is Relu.
bool recognise_relu(Editor& editor, int32_t index, Summary& summary) {
  const Node node = editor.node(index);
  if (node.op != "Clip" || node.has_input(2) || !is_filled_with(editor.graph(), node.input(1), 0))
    return false;
  if (!tensor::is_floating(editor.graph().value(node.inputs[0]).type.dtype)) return false;
  return replace_match(editor, {index, {}}, derived_node(node, "Relu", {node.inputs[0]}), summary);
}

/// Clip(low) and Clip(high) one after the other, in any order.
struct Bounds {
  ValueId low = kNoValue;
  ValueId high = kNoValue;
};
std::optional<Bounds> open_bounds(const Node& inner, const Node& outer) {
  const auto has_only = [](const Node& clip, size_t own, size_t other) {
    return clip.has_input(own) && !clip.has_input(other);
  };
  if (has_only(inner, 1, 2) && has_only(outer, 2, 1)) return Bounds{inner.input(1), outer.input(2)};
  if (has_only(inner, 2, 1) && has_only(outer, 1, 2)) return Bounds{outer.input(1), inner.input(2)};
  return std::nullopt;
}

/// True if a single Clip with both bounds gives the same result as the two. If the bounds are crossed, the
/// last one wins. A NaN has no order. Integers beyond 2^53 may be equal only when converted to double, so the
/// bounds must differ.
bool in_order(const Graph& graph, const Bounds& bounds) {
  const auto low = scalar_constant(graph, bounds.low);
  const auto high = scalar_constant(graph, bounds.high);
  if (!low || !high) return false;
  return *low < *high || (*low == *high && tensor::is_floating(graph.value(bounds.low).type.dtype));
}

/// A Clip of a Clip, each with only one bound, becomes one Clip.
bool merge_clips(Editor& editor, int32_t index, Summary& summary) {
  const Node outer = editor.node(index);
  if (outer.op != "Clip" || !editor.read_once(outer.inputs[0])) return false;
  const Node* inner = editor.made_by(outer.inputs[0], "Clip");
  if (inner == nullptr) return false;
  const auto bounds = open_bounds(*inner, outer);
  if (!bounds || !in_order(editor.graph(), *bounds)) return false;
  Match match{index, {}};
  match.take(editor, outer.inputs[0]);
  Node clip = derived_node(outer, "Clip", {inner->inputs[0], bounds->low, bounds->high});
  return replace_match(editor, match, std::move(clip), summary);
}

/// A Clip of a Relu becomes one Clip.
bool merge_relu(Editor& editor, int32_t index, Summary& summary) {
  const Node outer = editor.node(index);
  if (outer.op != "Clip" || !editor.read_once(outer.inputs[0])) return false;
  const Node* relu = editor.made_by(outer.inputs[0], "Relu");
  if (relu == nullptr) return false;
  const Graph& graph = editor.graph();
  const auto low = scalar_constant(graph, outer.input(1));
  const auto high = scalar_constant(graph, outer.input(2));
  // These comparisons are false for NaN.
  if (outer.has_input(1) && (!low || !(*low <= 0))) return false;
  if (!high || !(*high >= 0)) return false;
  Match match{index, {}};
  match.take(editor, outer.inputs[0]);
  const graph::DType dtype = graph.value(outer.outputs[0]).type.dtype;
  const ValueId x = relu->inputs[0];
  const ValueId zero = editor.add_constant(outer.name + ".low", floating_tensor(dtype, {}, {0}));
  return replace_match(editor, match, derived_node(outer, "Clip", {x, zero, outer.inputs[2]}), summary);
}

/// A Relu of a value that cannot be negative has no effect.
bool drop_relu(Editor& editor, int32_t index, Summary& summary) {
  const Node node = editor.node(index);
  if (node.op != "Relu" || !is_non_negative(editor, node.inputs[0])) return false;
  if (!editor.forward(index, node.outputs[0], node.inputs[0])) return false;
  summary.change(fmt::format("'{}' (Relu) removed: its input is never negative", node.name));
  return true;
}

}  // namespace

Summary activation_recognition(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  // Clips are merged before one of them becomes Relu.
  constexpr bool (*kRules[])(Editor&, int32_t, Summary&) = {
      recognise_gated, recognise_hard, recognise_extremum, merge_clips,
      merge_relu,      recognise_relu, drop_relu};
  for (int32_t i = 0; i < editor.count(); ++i) {
    for (const auto rule : kRules) {
      if (editor.alive(i)) rule(editor, i, summary);
    }
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
