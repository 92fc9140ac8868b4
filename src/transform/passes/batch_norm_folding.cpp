// Folds per-channel scales and shifts (batch normalization, Mul or Add with a constant) into the convolution
// or matrix product whose result only they read.
#include "transform/affine.hpp"
#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

class BatchNormFolding {
 public:
  explicit BatchNormFolding(Graph& graph) : graph_(graph), editor_(graph) {}

  Summary run() {
    for (int32_t i = 0; i < editor_.count(); ++i) {
      if (editor_.alive(i)) fold_into_producer(i);
    }
    editor_.commit();
    return std::move(summary_);
  }

 private:
  /// Tries each operand of node `index` as the result of a node with weights.
  void fold_into_producer(int32_t index) {
    const Node node = editor_.node(index);
    for (size_t i = 0; i < std::min<size_t>(node.inputs.size(), 2); ++i) {
      const int32_t producer = editor_.producer(node.inputs[i]);
      if (producer < 0 || editor_.node(producer).outputs[0] != node.inputs[i]) continue;
      const auto channels = weighted_channels(graph_, editor_.node(producer));
      if (channels && fold(producer, index, *channels)) return;
      if (editor_.node(producer).op == "Add" && fold_through_sum(producer, index)) return;
    }
    if (node.op == "BatchNormalization") fold_through_view(index);
  }

  /// The last dimension of a value; nothing if it is unknown.
  std::optional<int64_t> columns_of(ValueId id) const {
    const graph::TensorType& type = graph_.value(id).type;
    if (!type.ranked() || type.dims->size() < 2 || !type.dims->back().known()) return std::nullopt;
    return type.dims->back().value();
  }

  /// A product with a constant matrix, and the row that is added to its result.
  struct RowProduct {
    int32_t product = -1;
    int32_t sum = -1;  ///< -1 if nothing is added
    Channels channels = {};
    std::vector<double> bias = {};
  };

  std::optional<RowProduct> row_product(ValueId rows, int64_t columns) const {
    const Node* const sum = editor_.made_by(rows, "Add");
    for (const ValueId id : sum == nullptr ? std::vector{rows} : sum->inputs) {
      const Node* const product = editor_.made_by(id, "MatMul");
      if (product == nullptr || !editor_.read_once(id)) continue;
      const auto channels = weighted_channels(graph_, *product);
      if (!channels || channels->count != columns) continue;
      RowProduct found{.product = editor_.producer(id), .channels = *channels};
      found.bias.resize(static_cast<size_t>(columns));
      if (sum == nullptr) return found;
      found.sum = editor_.producer(rows);
      AffineOrReason bias = as_affine(graph_, *sum, id, *channels);
      if (!bias.affine) continue;
      found.bias = std::move(bias.affine->shift);
      return found;
    }
    return std::nullopt;
  }

  /// Handles BatchNormalization of a matrix that is a view of the rows of a product. The product takes the
  /// scale, and a sum before the view takes the shift, so that no node remains between the product and its
  /// readers.
  void fold_through_view(int32_t index) {
    const Node node = editor_.node(index);
    const int32_t view_index = editor_.producer(node.inputs[0]);
    if (view_index < 0 || !editor_.read_once(node.inputs[0])) return;
    Node view = editor_.node(view_index);
    const auto columns = columns_of(node.inputs[0]);
    if ((view.op != "Reshape" && view.op != "Flatten") || !columns ||
        graph_.value(node.inputs[0]).type.dims->size() != 2 || columns_of(view.inputs[0]) != columns ||
        !editor_.read_once(view.inputs[0]))
      return;
    const auto found = row_product(view.inputs[0], *columns);
    AffineOrReason affine = batch_norm_affine(graph_, node, *columns);
    if (!found || !affine.affine) return;
    std::vector<double> shift(static_cast<size_t>(*columns));
    std::swap(shift, affine.affine->shift);
    for (size_t c = 0; c < shift.size(); ++c) shift[c] += found->bias[c] * affine.affine->scale[c];
    const Node base = editor_.node(found->product);
    FoldedOrReason folded = fold_affine(editor_, base, found->channels, *affine.affine);
    if (!folded.node) return;
    const graph::DType dtype = graph_.value(base.outputs[0]).type.dtype;
    const ValueId bias = editor_.add_constant(base.name + ".bias", floating_tensor(dtype, {*columns}, shift));
    Node sum = derived_node(node, "Add", {base.outputs[0], bias});
    if (found->sum >= 0) join_names(sum, editor_.node(found->sum), node);
    sum.outputs = {editor_.add_value(node.name + ".rows", dtype)};
    view.inputs[0] = sum.outputs[0];
    view.outputs = {node.outputs[0]};
    summary_.change(fmt::format("'{}' ({}) folded into '{}'", node.name, node.op, base.name));
    editor_.replace(found->product, std::move(*folded.node));
    editor_.insert_before(view_index, std::move(sum));
    if (found->sum >= 0) editor_.remove(found->sum);
    editor_.remove(view_index);
    editor_.replace(index, std::move(view));
  }

  /// Rewrites (product + bias) * scale as product * scale + bias * scale. A product of stacks of matrices has
  /// no bias, so a sum is between its weights and a scale.
  bool fold_through_sum(int32_t sum_index, int32_t index) {
    const Node sum = editor_.node(sum_index);
    const Node node = editor_.node(index);
    for (const ValueId product : sum.inputs) {
      const int32_t producer = editor_.producer(product);
      if (producer < 0 || editor_.node(producer).op != "MatMul" || !editor_.read_once(product) ||
          !editor_.read_once(sum.outputs[0]))
        continue;
      const Node base = editor_.node(producer);
      const auto channels = weighted_channels(graph_, base);
      if (!channels) continue;
      const AffineOrReason bias = as_affine(graph_, sum, product, *channels);
      const AffineOrReason scale = as_affine(graph_, node, sum.outputs[0], *channels);
      if (!bias.affine || !scale.affine || !scale.affine->scales()) continue;
      FoldedOrReason folded = fold_affine(editor_, base, *channels, *scale.affine);
      if (!folded.node) continue;
      std::vector<double> scaled = bias.affine->shift;
      for (size_t c = 0; c < scaled.size(); ++c) scaled[c] *= scale.affine->scale[c];
      const graph::DType dtype = graph_.value(product).type.dtype;
      const ValueId constant =
          editor_.add_constant(sum.name + ".bias", floating_tensor(dtype, {channels->count}, scaled));
      Node result = derived_node(node, "Add", {product, constant});
      join_names(result, sum, node);
      summary_.change(
          fmt::format("'{}' ({}) folded into '{}' and '{}'", node.name, node.op, base.name, sum.name));
      editor_.replace(producer, std::move(*folded.node));
      editor_.remove(sum_index);
      editor_.replace(index, std::move(result));
      return true;
    }
    return false;
  }

  bool fold(int32_t producer, int32_t index, const Channels& channels) {
    const Node base = editor_.node(producer);
    const Node node = editor_.node(index);
    const auto refuse = [&](const Refusal& why) {
      summary_.refuse(fmt::format("'{}' + '{}' not folded: {}", base.name, node.name, why.text()));
      return false;
    };
    const AffineOrReason found = as_affine(graph_, node, base.outputs[0], channels);
    if (!found.affine) return !found.reason ? false : refuse(found.reason);
    if (editor_.is_output(base.outputs[0]))
      return refuse(fmt::format("the result of '{}' is a graph output", base.name));
    const size_t readers = editor_.read_count(base.outputs[0]);
    if (readers != 1) return refuse(fmt::format("the result of '{}' has {} readers", base.name, readers));
    FoldedOrReason folded = fold_affine(editor_, base, channels, *found.affine);
    if (!folded.node) return refuse(folded.reason);
    folded.node->outputs = {node.outputs[0]};
    join_names(*folded.node, base, node);
    summary_.change(fmt::format("'{}' ({}) folded into '{}'", node.name, node.op, base.name));
    editor_.remove(producer);
    editor_.replace(index, std::move(*folded.node));
    return true;
  }

  Graph& graph_;
  Editor editor_;
  Summary summary_;
};

}  // namespace

Summary batch_norm_folding(Graph& graph) { return BatchNormFolding(graph).run(); }

}  // namespace hone::transform
