// Replaces means and maxima over all spatial axes, and average pools over whole planes, with global pools.
#include <algorithm>

#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

/// True if the axes are exactly the spatial axes 2, 3, ... of a batch of images.
bool are_spatial(std::vector<int64_t> axes, int64_t rank) {
  for (int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  std::sort(axes.begin(), axes.end());
  if (static_cast<int64_t>(axes.size()) != rank - 2) return false;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<int64_t>(i) + 2) return false;
  }
  return true;
}

/// True if the mean or maximum belongs to a normalization or softmax that is written as several nodes: it is
/// subtracted from its own input, or is a mean of squares.
bool normalises(const Editor& editor, const Node& reduction) {
  for (const int32_t reader : editor.readers(reduction.outputs[0])) {
    const Node& node = editor.node(reader);
    if (node.op == "Sub" && node.inputs[0] == reduction.inputs[0]) return true;
  }
  if (reduction.op != "ReduceMean") return false;
  const Node* const power = editor.made_by(reduction.inputs[0], "Pow");
  const Node* const product = editor.made_by(reduction.inputs[0], "Mul");
  return (power != nullptr && is_scalar(editor.graph(), power->inputs[1], 2)) ||
         (product != nullptr && product->inputs[0] == product->inputs[1]);
}

void rewrite_reduction(Editor& editor, int32_t index, Summary& summary) {
  const Node reduction = editor.node(index);
  const bool is_mean = reduction.op == "ReduceMean";
  const graph::TensorType type = editor.graph().value(reduction.inputs[0]).type;
  const auto axes = known_integers(editor.graph(), reduction.input(1));
  if (!axes || !type.ranked() || !tensor::is_floating(type.dtype)) return;
  const auto rank = static_cast<int64_t>(type.dims->size());
  if (rank < 3 || axes->empty()) return;
  const std::string refused = fmt::format("'{}' is no global pool: ", reduction.name);
  if (!are_spatial(*axes, rank)) {
    return summary.refuse(refused + (is_mean ? "it does not average over all spatial axes"
                                             : "its maximum is not over all spatial axes"));
  }
  if (normalises(editor, reduction)) return summary.refuse(refused + "it is a part of a normalisation");
  for (size_t i = 2; i < type.dims->size(); ++i) {
    const graph::Dim& dim = (*type.dims)[i];
    if (dim.is(0)) return summary.refuse(refused + fmt::format("axis {} has no elements", i));
    // The maximum of no elements is -inf, but a pool does not accept an empty axis; the mean is NaN in both
    // cases.
    if (!is_mean && !dim.known())
      return summary.refuse(refused + fmt::format("axis {} may have no elements", i));
  }
  const char* const op = is_mean ? "GlobalAveragePool" : "GlobalMaxPool";
  summary.change(fmt::format("'{}' became {}", reduction.name, op));
  Node pool = derived_node(reduction, op, {reduction.inputs[0]});
  if (reduction.attributes.get_int("keepdims") != 0) return editor.replace(index, std::move(pool));
  const ValueId pooled = editor.add_value(reduction.name + ".pooled", type.dtype);
  pool.outputs = {pooled};
  editor.insert_before(index, std::move(pool));
  const Tensor squeezed = Tensor::of<int64_t>(*axes, {static_cast<int64_t>(axes->size())});
  const ValueId positions = editor.add_constant(reduction.name + ".axes", squeezed);
  Node squeeze = derived_node(reduction, "Squeeze", {pooled, positions});
  squeeze.name += ".squeeze";
  editor.replace(index, std::move(squeeze));
}

bool is_all(const graph::Attributes& attributes, const char* name, int64_t expected) {
  if (!attributes.has(name)) return true;
  const auto& list = attributes.get_ints(name);
  return std::all_of(list.begin(), list.end(), [&](int64_t value) { return value == expected; });
}

/// Handles an average pool whose only window is the whole plane.
void rewrite_pool(Editor& editor, int32_t index, Summary& summary) {
  const Node pool = editor.node(index);
  const graph::TensorType& type = editor.graph().value(pool.inputs[0]).type;
  if (!type.ranked() || !is_all(pool.attributes, "pads", 0) || !is_all(pool.attributes, "dilations", 1))
    return;
  const std::string& auto_pad = pool.attributes.get_string("auto_pad");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") return;
  const auto& kernel = pool.attributes.get_ints("kernel_shape");
  for (size_t i = 0; i < kernel.size(); ++i) {
    if (!(*type.dims)[i + 2].is(kernel[i])) return;
  }
  summary.change(fmt::format("'{}' became GlobalAveragePool", pool.name));
  editor.replace(index, derived_node(pool, "GlobalAveragePool", {pool.inputs[0]}));
}

}  // namespace

Summary reduce_to_pool(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  const int32_t count = editor.count();
  for (int32_t i = 0; i < count; ++i) {
    const std::string& op = editor.node(i).op;
    if (op == "ReduceMean" || op == "ReduceMax") {
      rewrite_reduction(editor, i, summary);
    } else if (op == "AveragePool") {
      rewrite_pool(editor, i, summary);
    }
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
