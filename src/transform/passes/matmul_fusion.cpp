// Fuses a matrix product with its bias and with the activations and additions that are the only readers of
// its result.
#include "transform/affine.hpp"
#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

/// The constant that node `add` adds to `product` along the last axis, one element for each column.
std::optional<std::vector<double>> column_bias(const Graph& graph, const Node& add, ValueId product) {
  const graph::TensorType& type = graph.value(product).type;
  if (add.op != "Add" || !type.ranked() || type.dims->empty() || !type.dims->back().known())
    return std::nullopt;
  const auto rank = static_cast<int64_t>(type.dims->size());
  return per_channel(graph, add.inputs[add.inputs[0] == product ? 1 : 0], rank, rank - 1,
                     type.dims->back().value());
}

/// Includes in a MatMul the bias that its only reader adds.
void take_bias(Editor& editor, int32_t index, Summary& summary) {
  const Node product = editor.node(index);
  const ValueId result = product.outputs[0];
  const int32_t reader_index = editor.single_reader(result);
  if (reader_index < 0) return;
  const Node reader = editor.node(reader_index);
  const auto bias = column_bias(editor.graph(), reader, result);
  if (!bias) return;
  const graph::DType dtype = editor.graph().value(result).type.dtype;
  const auto columns = static_cast<int64_t>(bias->size());
  const ValueId constant =
      editor.add_constant(product.name + ".bias", floating_tensor(dtype, {columns}, *bias));
  Node fused = derived_node(reader, "FusedMatMul", {product.inputs[0], product.inputs[1], constant});
  set_post_ops(fused, "FusedMatMul", {});
  join_names(fused, product, reader);
  summary.change(fmt::format("'{}' took the bias that '{}' adds", product.name, reader.name));
  editor.remove(index);
  editor.replace(reader_index, std::move(fused));
}

std::string fused_operator(const Editor&, const Node& node) {
  if (node.op == "MatMul" || node.op == "FusedMatMul") return "FusedMatMul";
  return node.op == "Gemm" || node.op == "FusedGemm" ? "FusedGemm" : "";
}

Summary take_biases(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (editor.alive(i) && editor.node(i).op == "MatMul") take_bias(editor, i, summary);
  }
  editor.commit();
  return summary;
}

}  // namespace

Summary matmul_fusion(Graph& graph) {
  Summary summary = take_biases(graph);
  Summary fused = fuse_post_ops(graph, fused_operator);
  summary.changes += fused.changes;
  summary.notes.insert(summary.notes.end(), fused.notes.begin(), fused.notes.end());
  summary.refusals = std::move(fused.refusals);
  return summary;
}

}  // namespace hone::transform
