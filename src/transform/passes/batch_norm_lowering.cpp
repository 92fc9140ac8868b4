// Replaces a batch normalization that does not follow a node with weights by a multiplication and an
// addition, so that its neighbours can be fused with them.
#include "transform/affine.hpp"
#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

void lower(Editor& editor, int32_t index, Summary& summary) {
  const Node node = editor.node(index);
  const graph::TensorType type = editor.graph().value(node.inputs[0]).type;
  const auto refuse = [&](const Refusal& why) {
    summary.refuse(fmt::format("'{}' stays a batch normalisation: {}", node.name, why.text()));
  };
  if (!type.ranked() || type.dims->size() < 2 || !(*type.dims)[1].known()) {
    return refuse("its number of channels is not known");
  }
  const int64_t channels = (*type.dims)[1].value();
  const AffineOrReason found = batch_norm_affine(editor.graph(), node, channels);
  if (!found.affine) return refuse(found.reason);
  // Shape [C, 1, 1], which is broadcast over batch and space.
  tensor::Shape shape(type.dims->size() - 1, 1);
  shape[0] = channels;
  const auto constant = [&](const char* suffix, const std::vector<double>& elements) {
    return editor.add_constant(node.name + suffix, floating_tensor(type.dtype, shape, elements));
  };
  PostOps post_ops;
  post_ops.add_binary("mul", constant(".scale", found.affine->scale));
  post_ops.add_binary("add", constant(".shift", found.affine->shift));
  Node elementwise = derived_node(node, "FusedElementwise", {node.inputs[0]});
  set_post_ops(elementwise, "FusedElementwise", post_ops);
  summary.change(fmt::format("'{}' became a multiplication and an addition", node.name));
  editor.replace(index, std::move(elementwise));
}

}  // namespace

Summary batch_norm_lowering(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (editor.node(i).op == "BatchNormalization") lower(editor, i, summary);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
