// See bounded_slices.hpp.
#include "transform/bounded_slices.hpp"

#include <optional>

#include "graph/infer.hpp"
#include "transform/constants.hpp"
#include "transform/editor.hpp"

namespace hone::transform {
namespace {

using tensor::Tensor;

/// The only element of an input that has one element for each axis; nullopt for other inputs, and for several
/// axes.
std::optional<int64_t> single(const Graph& graph, const Node& node, size_t input, int64_t otherwise) {
  if (!node.has_input(input)) return otherwise;
  const auto elements = known_integers(graph, node.inputs[input]);
  if (!elements || elements->size() != 1) return std::nullopt;
  return elements->front();
}

/// The axis along which the slice takes the first rows of its constant, if a symbol gives their number;
/// nullopt for any other slice.
std::optional<int64_t> axis_of(const Graph& graph, const Node& node,
                               const std::map<std::string, int64_t>& largest) {
  if (node.op != "Slice" || graph.constant(node.inputs[0]) == nullptr) return std::nullopt;
  if (graph.value(node.inputs[2]).type.dtype != tensor::DType::kInt64) return std::nullopt;
  if (single(graph, node, 1, 0) != 0 || single(graph, node, 4, 1) != 1) return std::nullopt;
  const auto& lengths = graph.value(node.inputs[2]).data;
  if (!lengths || lengths->size() != 1) return std::nullopt;
  const auto most = largest.find(lengths->front().symbol());
  const auto given = single(graph, node, 3, 0);
  if (lengths->front().symbol().empty() || most == largest.end() || !given) return std::nullopt;
  const tensor::Shape& shape = graph.constant(node.inputs[0])->shape();
  const int64_t axis = tensor::normalize_axis(*given, static_cast<int64_t>(shape.size()));
  if (most->second > shape[static_cast<size_t>(axis)]) return std::nullopt;
  return axis;
}

}  // namespace

Summary bounded_slices(Graph& graph, const std::map<std::string, int64_t>& largest) {
  Summary summary;
  summary.name = "bounded_slices";
  graph::infer_types(graph);
  Editor editor(graph);
  const int32_t count = editor.count();
  for (int32_t i = 0; i < count; ++i) {
    const auto axis = axis_of(graph, editor.node(i), largest);
    if (!axis) continue;
    const Node slice = editor.node(i);
    Node range;
    range.name = slice.name + ".range";
    range.op = "Range";
    range.sources = slice.sources;
    range.inputs = {editor.add_constant(slice.name + ".start", Tensor::of<int64_t>({0}, {})), slice.inputs[2],
                    editor.add_constant(slice.name + ".step", Tensor::of<int64_t>({1}, {}))};
    range.outputs = {editor.add_value(slice.name + ".rows", tensor::DType::kInt64)};
    const graph::ValueId rows = range.outputs[0];
    editor.insert_before(i, std::move(range));
    Node gather = slice;
    gather.op = "Gather";
    gather.inputs = {slice.inputs[0], rows};
    gather.attributes = {};
    gather.attributes.set("axis", graph::Attribute(*axis));
    editor.replace(i, std::move(gather));
    summary.change(fmt::format("'{}' taken by its rows", slice.name));
  }
  editor.commit();
  graph::infer_types(graph);
  return summary;
}

}  // namespace hone::transform
