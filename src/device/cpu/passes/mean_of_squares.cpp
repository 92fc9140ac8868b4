// Makes sums of squares, which are read once, of means of squares: the squares are not written anywhere.
#include "device/cpu/passes/pass_list.hpp"
#include "transform/constants.hpp"
#include "transform/fusion.hpp"

namespace hone::device::cpu {

using namespace transform;

namespace {

/// The axes that a mean is over, as reduce_to_pool leaves it: a pool is over all but the first two.
std::optional<std::vector<int64_t>> averaged_axes(const Graph& graph, const Node& mean,
                                                  const graph::Dims& dims) {
  if (mean.op == "ReduceMean") return known_integers(graph, mean.input(1));
  std::vector<int64_t> axes;
  for (size_t d = 2; d < dims.size(); ++d) axes.push_back(static_cast<int64_t>(d));
  return axes;
}

/// Elements along the axes; nullopt where their number is open or none.
std::optional<double> count_along(const graph::Dims& dims, const std::vector<int64_t>& axes) {
  double count = 1;
  for (const int64_t axis : axes) {
    const auto rank = static_cast<int64_t>(dims.size());
    const graph::Dim& dim = dims[static_cast<size_t>(tensor::normalize_axis(axis, rank))];
    if (!dim.known() || dim.value() == 0) return std::nullopt;
    count *= static_cast<double>(dim.value());
  }
  return count;
}

void rewrite(Editor& editor, int32_t index, Summary& summary) {
  const Node mean = editor.node(index);
  const Node* found = editor.made_by(mean.inputs[0], "Mul");
  const std::optional<Node> square = found == nullptr ? std::nullopt : std::optional(*found);
  if (!square || square->inputs[0] != square->inputs[1] || !editor.read_once(mean.inputs[0])) return;
  const graph::TensorType type = editor.graph().value(mean.inputs[0]).type;
  if (type.dtype != DType::kFloat32 || !type.ranked()) return;
  const auto axes = averaged_axes(editor.graph(), mean, *type.dims);
  const auto count = axes && !axes->empty() ? count_along(*type.dims, *axes) : std::nullopt;
  if (!count)
    return summary.refuse(fmt::format("'{}' stays a mean: how many elements it is over is open", mean.name));
  const ValueId positions = editor.add_constant(
      mean.name + ".axes", Tensor::of<int64_t>(*axes, {static_cast<int64_t>(axes->size())}));
  Node sum = derived_node(mean, "ReduceSumSquare", {square->inputs[0], positions});
  if (mean.op == "ReduceMean") sum.attributes.set("keepdims", mean.attributes.get_int("keepdims"));
  const ValueId total = editor.add_value(mean.name + ".sum", type.dtype);
  sum.name += ".sum";
  sum.outputs = {total};
  editor.insert_before(index, std::move(sum));
  const ValueId share =
      editor.add_constant(mean.name + ".share", floating_tensor(type.dtype, {}, {1 / *count}));
  summary.change(fmt::format("'{}' became a sum of squares", mean.name));
  editor.replace(index, derived_node(mean, "Mul", {total, share}));
}

}  // namespace

Summary mean_of_squares(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  const int32_t count = editor.count();
  for (int32_t i = 0; i < count; ++i) {
    const std::string& op = editor.node(i).op;
    if (editor.alive(i) && (op == "ReduceMean" || op == "GlobalAveragePool")) rewrite(editor, i, summary);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::device::cpu
