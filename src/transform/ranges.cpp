// See ranges.hpp.
#include "transform/ranges.hpp"

#include <algorithm>
#include <array>

#include "graph/operator.hpp"
#include "transform/constants.hpp"
#include "transform/fusion.hpp"

namespace hone::transform {
namespace {

/// Limit on the nodes that are examined because they keep a range.
constexpr int kMaxDepth = 8;

bool ends_non_negative(const PostOps& post_ops) {
  if (post_ops.ops.empty()) return false;
  const std::string& last = post_ops.ops.back();
  if (last == "clip") return post_ops.alphas.back() >= 0 && post_ops.betas.back() >= 0;
  return last == "relu" || last == "sigmoid" || last == "hard_sigmoid" || last == "softplus";
}

/// Both bounds matter: if the lower one is above the upper one, ONNX's Clip returns the upper one.
bool clips_non_negative(const Graph& graph, const Node& clip) {
  const auto low = scalar_constant(graph, clip.input(1));
  if (!low || !(*low >= 0)) return false;
  if (!clip.has_input(2)) return true;
  const auto high = scalar_constant(graph, clip.input(2));
  return high && *high >= 0;
}

bool is_non_negative(const Editor& editor, ValueId id, int depth) {
  const int32_t maker = editor.producer(id);
  if (maker < 0 || depth > kMaxDepth) return false;
  const Node& node = editor.node(maker);
  const graph::Traits& traits = graph::traits_of(node);
  if (traits.non_negative) return true;
  if (node.op == "Clip") return clips_non_negative(editor.graph(), node);
  if (node.op == "Concat") {
    return std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](ValueId part) { return is_non_negative(editor, part, depth + 1); });
  }
  if (traits.moves_only || traits.keeps_range) return is_non_negative(editor, node.inputs[0], depth + 1);
  // Post-ops belong to the first output.
  return node.outputs[0] == id && ends_non_negative(post_ops_of(node));
}

}  // namespace

bool is_non_negative(const Editor& editor, ValueId id) { return is_non_negative(editor, id, 0); }

}  // namespace hone::transform
