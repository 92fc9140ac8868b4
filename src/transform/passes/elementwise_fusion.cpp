// Fuses chains of the remaining elementwise nodes, so that memory is read and written once instead of several
// times.
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

/// A node as post-ops on the operand that has the shape of its result.
struct Chain {
  ValueId main = kNoValue;
  PostOps post_ops;
};

std::optional<Chain> as_chain(const Graph& graph, const Node& node) {
  for (size_t i = 0; i < node.inputs.size() && i < 2; ++i) {
    const ValueId main = node.inputs[i];
    if (main == kNoValue || graph.constant(main) != nullptr) continue;
    auto found = as_post_ops(graph, node, main, Scaling::kAnyBroadcast);
    if (found.post_ops) return Chain{main, std::move(*found.post_ops)};
  }
  return std::nullopt;
}

void fuse_with_reader(Editor& editor, int32_t index, Summary& summary) {
  const Node node = editor.node(index);
  if (node.outputs.size() != 1) return;
  const int32_t reader_index = editor.first_reader(node.outputs[0]);
  if (reader_index < 0) return;
  const Node reader = editor.node(reader_index);
  const PostOpsOrReason next = as_post_ops(editor.graph(), reader, node.outputs[0], Scaling::kAnyBroadcast);
  if (!next.post_ops && !next.reason) return;
  auto chain = as_chain(editor.graph(), node);
  if (!chain) return;
  const auto refuse = [&](const Refusal& why) {
    summary.refuse(fmt::format("'{}' + '{}' not fused: {}", node.name, reader.name, why.text()));
  };
  if (!next.post_ops) return refuse(next.reason);
  if (!editor.read_once(node.outputs[0]))
    return refuse(fmt::format("the result of '{}' is needed elsewhere", node.name));
  chain->post_ops.append(*next.post_ops);
  if (chain->post_ops.ops.size() > kMaxPostOps)
    return refuse(fmt::format("a step holds {} post-ops at most", kMaxPostOps));
  Node fused = derived_node(reader, "FusedElementwise", {chain->main});
  set_post_ops(fused, "FusedElementwise", chain->post_ops);
  join_names(fused, node, reader);
  summary.change(fmt::format("'{}' absorbed '{}' ({})", node.name, reader.name, reader.op));
  editor.remove(index);
  editor.replace(reader_index, std::move(fused));
}

}  // namespace

Summary elementwise_fusion(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (editor.alive(i)) fuse_with_reader(editor, i, summary);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
