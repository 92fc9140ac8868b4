// See pattern.hpp.
#include "transform/pattern.hpp"

#include <algorithm>
#include <cmath>

#include "transform/constants.hpp"
#include "transform/fusion.hpp"

namespace hone::transform {
namespace {

std::vector<int32_t> sorted(std::vector<int32_t> indices) {
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

/// A value that a node inside the match produces and that is needed outside; kNoValue if there is none.
ValueId needed_elsewhere(const Editor& editor, const std::vector<int32_t>& inside, int32_t root) {
  for (const int32_t index : inside) {
    for (const ValueId id : editor.node(index).outputs) {
      if (id == kNoValue) continue;
      if (editor.is_output(id)) return id;
      for (const int32_t reader : editor.readers(id)) {
        if (reader != root && !std::binary_search(inside.begin(), inside.end(), reader)) return id;
      }
    }
  }
  return kNoValue;
}

/// Adds a value as a factor to the product, and continues with its producer if only the product reads it.
bool add_factor(const Editor& editor, ValueId id, Product& product, Match& match) {
  if (const auto scalar = scalar_constant(editor.graph(), id)) {
    product.scale *= *scalar;
    return true;
  }
  const int32_t maker = editor.producer(id);
  if (maker >= 0 && editor.read_once(id)) {
    Match inner = match;
    if (auto nested = product_of(editor, maker, inner)) {
      match = std::move(inner);
      match.inside.push_back(maker);
      product.scale *= nested->scale;
      product.factors.insert(product.factors.end(), nested->factors.begin(), nested->factors.end());
      return product.factors.size() <= kMaxFactors;
    }
  }
  product.factors.push_back(id);
  return product.factors.size() <= kMaxFactors;
}

/// Constants with one element match at any rank, but one with a higher rank than x would raise the rank of
/// the result. Comparing ranks is enough, because one element can be broadcast to any size.
bool same_rank(const graph::TensorType& a, const graph::TensorType& b) {
  return a.ranked() && b.ranked() && a.dims->size() == b.dims->size();
}

/// Why the match cannot become one node that keeps the shape of `x`; empty if it can.
Refusal obstacle(const Editor& editor, const Match& match, ValueId x) {
  const Graph& graph = editor.graph();
  const graph::TensorType& result = graph.value(editor.node(match.root).outputs[0]).type;
  if (!same_rank(graph.value(x).type, result)) {
    return fmt::format("it makes {} of {}", result.text(), graph.value(x).type.text());
  }
  const ValueId needed = needed_elsewhere(editor, sorted(match.inside), match.root);
  if (needed == kNoValue) return {};
  return fmt::format("'{}' inside of it is needed elsewhere", graph.value(needed).name);
}

}  // namespace

bool is_replaceable(const Editor& editor, const Match& match, ValueId x, const std::string& what,
                    Summary& summary) {
  const Refusal why = obstacle(editor, match, x);
  if (!why) return true;
  summary.refuse(fmt::format("'{}' is no {}: {}", editor.node(match.root).name, what, why.text()));
  return false;
}

bool replace_match(Editor& editor, const Match& match, Node replacement, Summary& summary) {
  if (!is_replaceable(editor, match, replacement.inputs[0], replacement.op, summary)) return false;
  const std::vector<int32_t> inside = sorted(match.inside);
  const Node root = editor.node(match.root);
  std::vector<Node> parts;
  for (const int32_t index : inside) parts.push_back(editor.node(index));
  parts.push_back(root);
  std::vector<const Node*> pointers;
  for (const Node& part : parts) pointers.push_back(&part);
  join_names(replacement, pointers);
  replacement.outputs = {root.outputs[0]};
  summary.change(fmt::format("{} nodes up to '{}' became {}", parts.size(), root.name, replacement.op));
  for (const int32_t index : inside) editor.remove(index);
  editor.replace(match.root, std::move(replacement));
  return true;
}

ValueId other_operand(const Node& node, ValueId id) {
  if (node.inputs.size() != 2) return kNoValue;
  if (node.inputs[0] == id) return node.inputs[1];
  return node.inputs[1] == id ? node.inputs[0] : kNoValue;
}

std::optional<Product> product_of(const Editor& editor, int32_t index, Match& match) {
  const Node& node = editor.node(index);
  Product product;
  if (node.op == "Mul") {
    if (!add_factor(editor, node.inputs[0], product, match)) return std::nullopt;
    if (!add_factor(editor, node.inputs[1], product, match)) return std::nullopt;
    return product;
  }
  if (node.op != "Div" && node.op != "Pow") return std::nullopt;
  const auto scalar = scalar_constant(editor.graph(), node.inputs[1]);
  if (!scalar) return std::nullopt;
  if (node.op == "Div") {
    if (!add_factor(editor, node.inputs[0], product, match)) return std::nullopt;
    product.scale /= *scalar;
    return product;
  }
  if (*scalar != 2 && *scalar != 3) return std::nullopt;
  product.factors.assign(static_cast<size_t>(*scalar), node.inputs[0]);
  return product;
}

std::optional<ValueId> minus_scalar(const Editor& editor, ValueId id, double addend, Match& match) {
  const Node* node = editor.made_by(id, "Add");
  if (node == nullptr) return std::nullopt;
  for (const size_t i : {0, 1}) {
    if (!is_scalar(editor.graph(), node->inputs[i], addend)) continue;
    match.take(editor, id);
    return node->inputs[1 - i];
  }
  return std::nullopt;
}

bool is_about(double value, double expected) {
  return std::abs(value - expected) <= std::abs(expected) * 0x1p-21;
}

}  // namespace hone::transform
