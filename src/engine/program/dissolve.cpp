// See dissolve.hpp.
#include "engine/program/dissolve.hpp"

#include <algorithm>

#include "graph/region.hpp"
#include "transform/dissolve.hpp"

namespace hone::engine {

using graph::Node;
using graph::ValueId;

bool is_fused(const Node& node) { return transform::chained_ops(node) > 0 || graph::is_region(node); }

bool has_pieces(const Node& node) {
  return graph::is_region(node) || transform::chained_ops(node) > (node.op == "FusedElementwise" ? 1 : 0);
}

std::vector<Node> dissolve(graph::Graph& graph, const Node& whole,
                           const std::function<bool(const Node&)>& takes) {
  if (graph::is_region(whole)) return transform::pieces_of_region(graph, whole);
  const graph::Value& result = graph.value(whole.outputs[0]);
  // None of the operations changes the type or the shape.
  const ValueId between = graph.add_value(fmt::format("{}/0", result.name), graph::TensorType(result.type));
  const bool has_base = whole.op != "FusedElementwise";
  for (size_t inside = transform::chained_ops(whole); inside-- > (has_base ? 0 : 1);) {
    auto [base, rest] = transform::split_chain(whole, inside, between);
    if (takes(base)) return {std::move(base), std::move(rest)};
  }
  if (!has_base) return {};
  // The device lacks the base operator; the rest is useful if its first operation has a kernel.
  auto [base, rest] = transform::split_chain(whole, 0, between);
  const bool gains =
      takes(transform::chained_ops(rest) == 1 ? rest : transform::split_chain(rest, 1, between)[0]);
  if (!gains) return {};
  return {std::move(base), std::move(rest)};
}

std::vector<ValueId> unread_inputs(const Node& whole, const std::vector<Node>& pieces) {
  std::vector<ValueId> unread;
  for (const ValueId id : whole.inputs) {
    const bool read = std::any_of(pieces.begin(), pieces.end(), [&](const Node& piece) {
      return std::find(piece.inputs.begin(), piece.inputs.end(), id) != piece.inputs.end();
    });
    if (id != graph::kNoValue && !read) unread.push_back(id);
  }
  return unread;
}

}  // namespace hone::engine
