// Transposes whole images where a model transposes their pixels as rows. A channels-last image has the same
// bytes as the rows, so devices that store images in this layout need not move any data.
#include <numeric>

#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

using Ints = std::vector<int64_t>;

bool swaps_last_two(const Node& node) {
  return node.op == "Transpose" && node.attributes.get_or<Ints>("perm", {}) == Ints{0, 2, 1};
}

/// Returns no dimensions if the rank is unknown.
graph::Dims dims_of(const Graph& graph, ValueId id) {
  const graph::TensorType& type = graph.value(id).type;
  return type.ranked() ? *type.dims : graph::Dims();
}

/// True if an image [N, C, ...] has the same images and channels as the tensor [N, ..., C] or [N, C, ...]
/// with the channels at this axis.
bool same_channels(const graph::Dims& image, const graph::Dims& rows, size_t at) {
  return image.size() > 3 && rows.size() == 3 && image[0].same_as(rows[0]) && image[1].known() &&
         image[1].same_as(rows[at]);
}

ValueId add_shape(Editor& editor, const Node& node, const Ints& shape) {
  return editor.add_constant(node.name + ".shape",
                             tensor::Tensor::of<int64_t>(shape, {static_cast<int64_t>(shape.size())}));
}

/// A dimension in a Reshape: its size, or 0 for the first dimension of the reshaped tensor.
int64_t first_size(const graph::Dim& dim) { return dim.known() ? dim.value() : 0; }

/// Inserts a node of another operator at `node`, with a new result.
Node beside(Editor& editor, const Node& node, const char* op, const char* what, std::vector<ValueId> inputs) {
  Node made = derived_node(node, op, std::move(inputs));
  made.name = node.name + what;
  made.outputs = {editor.add_value(made.name, editor.graph().value(node.outputs[0]).type.dtype)};
  return made;
}

/// Rewrites Transpose(Reshape(image to [N, C, pixels])) as Reshape(Transpose(image)).
bool rows_of_image(Editor& editor, int32_t index) {
  const Node transpose = editor.node(index);
  if (!swaps_last_two(transpose) || !editor.read_once(transpose.inputs[0])) return false;
  const Node* reshape = editor.made_by(transpose.inputs[0], "Reshape");
  if (reshape == nullptr) return false;
  const ValueId x = reshape->inputs[0];
  const graph::Dims image = dims_of(editor.graph(), x);
  const graph::Dims rows = dims_of(editor.graph(), transpose.inputs[0]);
  if (!same_channels(image, rows, 1)) return false;
  const auto rank = static_cast<int64_t>(image.size());
  const int64_t channels = image[1].value();
  Ints perm(static_cast<size_t>(rank));
  std::iota(perm.begin() + 1, perm.end() - 1, 2);
  perm.back() = 1;
  Node moved = beside(editor, transpose, "Transpose", ".image", {x});
  moved.attributes.set("perm", perm);
  Node joined =
      derived_node(transpose, "Reshape",
                   {moved.outputs[0], add_shape(editor, transpose, {first_size(image[0]), -1, channels})});
  editor.insert_before(index, std::move(moved));
  editor.replace(index, std::move(joined));
  return true;
}

/// Rewrites Reshape(Transpose(rows) to an image) as Transpose(Reshape(rows)).
bool image_of_rows(Editor& editor, int32_t index) {
  const Node reshape = editor.node(index);
  if (reshape.op != "Reshape" || !editor.read_once(reshape.inputs[0])) return false;
  const Node* transpose = editor.made_by(reshape.inputs[0], "Transpose");
  if (transpose == nullptr || !swaps_last_two(*transpose)) return false;
  const ValueId x = transpose->inputs[0];
  const graph::Dims rows = dims_of(editor.graph(), x);
  const graph::Dims image = dims_of(editor.graph(), reshape.outputs[0]);
  if (!same_channels(image, rows, 2)) return false;
  const auto rank = static_cast<int64_t>(image.size());
  Ints shape = {first_size(rows[0])};
  for (auto dim = image.begin() + 2; dim != image.end(); ++dim) {
    if (!dim->known()) return false;
    shape.push_back(dim->value());
  }
  shape.push_back(image[1].value());
  Ints perm = {0, rank - 1};
  for (int64_t axis = 1; axis + 1 < rank; ++axis) perm.push_back(axis);
  Node split = beside(editor, reshape, "Reshape", ".rows", {x, add_shape(editor, reshape, shape)});
  Node moved = derived_node(reshape, "Transpose", {split.outputs[0]});
  moved.attributes.set("perm", perm);
  editor.insert_before(index, std::move(split));
  editor.replace(index, std::move(moved));
  return true;
}

}  // namespace

Summary image_rows(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  const int32_t count = editor.count();
  for (int32_t i = 0; i < count; ++i) {
    if (!editor.alive(i)) continue;
    const std::string name = editor.node(i).name;
    if (rows_of_image(editor, i) || image_of_rows(editor, i))
      summary.change(fmt::format("'{}' moves a whole image", name));
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
