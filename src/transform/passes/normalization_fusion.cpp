// Fuses a group or instance normalization with the activations that are the only readers of its result.
#include "graph/activated_normalization.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"
#include "transform/region.hpp"

namespace hone::transform {
namespace {

/// The only reader of a value if it is an activation: its index and its post-ops.
struct Reader {
  int32_t index;
  PostOps post_ops;
};

std::optional<Reader> read_activation(const Editor& editor, ValueId value) {
  const int32_t reader = editor.single_reader(value);
  if (reader < 0) return std::nullopt;
  auto found = as_post_ops(editor.graph(), editor.node(reader), value);
  if (!found.post_ops || !found.post_ops->extras.empty()) return std::nullopt;
  return Reader{reader, std::move(*found.post_ops)};
}

void fuse(Editor& editor, int32_t index, Summary& summary) {
  const Node norm = editor.node(index);
  if (editor.graph().value(norm.inputs[0]).type.dtype != graph::DType::kFloat32) return;
  PostOps post_ops;
  std::vector<Node> activations;
  int32_t last = index;
  while (const auto next = read_activation(editor, editor.node(last).outputs[0])) {
    if (post_ops.ops.size() + next->post_ops.ops.size() > kMaxPostOps) break;
    post_ops.append(next->post_ops);
    activations.push_back(editor.node(next->index));
    editor.remove(last);
    last = next->index;
  }
  if (activations.empty()) return;
  Node activation = derived_node(activations.back(), "FusedElementwise", {norm.outputs[0]});
  set_post_ops(activation, "FusedElementwise", post_ops);
  for (const Node& absorbed : activations)
    summary.change(fmt::format("'{}' absorbed '{}' ({})", norm.name, absorbed.name, absorbed.op));
  std::vector<const Node*> parts;
  for (const Node& absorbed : activations) parts.push_back(&absorbed);
  join_names(activation, parts);
  editor.replace(last, make_region(std::string(graph::kActivatedNormalization),
                                   {{"norm", norm}, {"activation", activation}}, activation.outputs));
}

}  // namespace

Summary normalization_fusion(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (!editor.alive(i)) continue;
    const std::string& op = editor.node(i).op;
    if (op == "GroupNormalization" || op == "InstanceNormalization") fuse(editor, i, summary);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
