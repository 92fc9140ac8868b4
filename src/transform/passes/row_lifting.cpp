// Converts rows [N, C, W] that convolutions read to images one pixel high, because kernels and layouts are
// made for images. Operators after a convolution also use images as far as possible, so that nothing is
// rearranged in between.
#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

#include "graph/operator.hpp"
#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/row_lifting.hpp"

namespace hone::transform {
namespace {

constexpr int64_t kHeightAxis = 2;
constexpr size_t kRowRank = 3;

bool is_one_of(std::string_view op, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), op) != list.end();
}

class Lifting {
 public:
  Lifting(Editor& editor, Summary& summary) : editor_(editor), summary_(summary) {}

  void visit(int32_t index) {
    const Node& node = editor_.node(index);
    if (node.inputs.empty() || node.outputs.size() != 1 || !is_row(node.outputs[0])) return;
    if (node.op == "Conv" && is_row(node.inputs[0])) return lift_convolution(index);
    const bool reads_image = std::any_of(node.inputs.begin(), node.inputs.end(),
                                         [&](ValueId id) { return images_.count(id) > 0; });
    if (!reads_image) return;
    if (is_elementwise(node)) return lift(index, node, all_inputs(node));
    if (node.op == "Concat") return lift(index, of_images(node, "axis"), all_inputs(node));
    if (images_.count(node.inputs[0]) == 0) return;
    if (is_one_of(node.op, {"MaxPool", "AveragePool"})) return lift(index, widened(node), {0});
    if (is_one_of(node.op, {"GlobalAveragePool", "GlobalMaxPool", "BatchNormalization",
                            "InstanceNormalization", "GroupNormalization"}))
      return lift(index, node, {0});
    if (node.op == "Pad") return lift_pad(index);
    if (node.op == "Transpose") lift_transpose(index);
  }

  /// Removes rows that are not read any more, because their producers would count as readers and prevent
  /// fusion.
  void drop_unread() {
    for (const int32_t index : makers_) {
      const ValueId row = editor_.node(index).outputs[0];
      if (editor_.read_count(row) == 0 && !editor_.is_output(row)) editor_.remove(index);
    }
  }

 private:
  bool is_row(ValueId id) const {
    if (id == kNoValue) return false;
    const graph::TensorType& type = editor_.graph().value(id).type;
    return type.ranked() && type.dims->size() == kRowRank;
  }

  /// True if it computes each element from operands at the same position, also in images.
  bool is_elementwise(const Node& node) const {
    const bool chain = node.op == "FusedElementwise" || node.op == "Clip" || node.op == "PRelu";
    if (!chain && !graph::traits_of(node).elementwise) return false;
    return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      if (id == kNoValue || is_row(id)) return true;
      const graph::TensorType& type = editor_.graph().value(id).type;
      return type.ranked() && (type.dims->size() < 2 || editor_.graph().constant(id) != nullptr);
    });
  }

  static std::vector<size_t> all_inputs(const Node& node) {
    std::vector<size_t> all(node.inputs.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
  }

  /// The node with its axis converted from rows to images.
  static Node of_images(Node node, const char* attribute) {
    int64_t axis = node.attributes.get_int(attribute);
    if (axis < 0) axis += static_cast<int64_t>(kRowRank);
    node.attributes.set(attribute, axis < kHeightAxis ? axis : axis + 1);
    return node;
  }

  /// The node with window attributes extended to images one pixel high.
  static Node widened(Node node) {
    for (const char* name : {"kernel_shape", "strides", "dilations"}) {
      if (!node.attributes.has(name)) continue;
      std::vector<int64_t> sizes = node.attributes.get_ints(name);
      if (!sizes.empty()) sizes.insert(sizes.begin(), 1);
      node.attributes.set(name, std::move(sizes));
    }
    if (node.attributes.has("pads")) {
      const std::vector<int64_t> pads = node.attributes.get_ints("pads");
      if (pads.size() == 2) node.attributes.set("pads", std::vector<int64_t>{0, pads[0], 0, pads[1]});
    }
    return node;
  }

  void lift_convolution(int32_t index) {
    Node image = widened(editor_.node(index));
    const Tensor* weights = editor_.graph().constant(image.inputs[1]);
    if (weights == nullptr)
      return summary_.refuse(fmt::format("'{}' stays one of rows: its weights are computed", image.name));
    tensor::Shape shape = weights->shape();
    shape.insert(shape.begin() + kHeightAxis, 1);
    image.inputs[1] = editor_.add_constant(image.name + ".weights", weights->reshaped(std::move(shape)));
    summary_.change(fmt::format("'{}' became a convolution of images", image.name));
    lift(index, std::move(image), {0});
  }

  void lift_pad(int32_t index) {
    Node image = editor_.node(index);
    const auto pads = known_integers(editor_.graph(), image.input(1));
    if (!pads || pads->size() != 2 * kRowRank || image.has_input(3)) return;
    std::vector<int64_t> wide = *pads;
    for (const size_t end : {2 * kRowRank - 1, kRowRank - 1})
      wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(end), 0);
    image.inputs[1] = editor_.add_constant(image.name + ".pads",
                                           Tensor::of<int64_t>(wide, {static_cast<int64_t>(wide.size())}));
    lift(index, std::move(image), {0});
  }

  /// Replaces node `index`, whose inputs with the indices `rows` are rows, by `image` on images.
  void lift(int32_t index, Node image, const std::vector<size_t>& rows) {
    for (const size_t input : rows) image.inputs[input] = image_of(index, image.inputs[input]);
    const ValueId row = image.outputs[0];
    const graph::DType dtype = editor_.graph().value(row).type.dtype;
    const ValueId made = editor_.add_value(editor_.graph().value(row).name + ".image", dtype);
    Node squeeze = derived_node(image, "Squeeze", {made, height_axis()});
    squeeze.name += ".row";
    image.outputs = {made};
    images_[row] = made;
    editor_.insert_before(index, std::move(image));
    editor_.replace(index, std::move(squeeze));
    makers_.push_back(index);
  }

  /// The same elements as images; an operand that is broadcast to rows is reshaped so that it is broadcast to
  /// images.
  ValueId image_of(int32_t index, ValueId row) {
    if (row == kNoValue) return row;
    const auto known = images_.find(row);
    if (known != images_.end()) return known->second;
    if (const Tensor* constant = editor_.graph().constant(row)) return constant_image(*constant, row);
    if (!is_row(row)) return row;
    const Node* const transpose = editor_.made_by(row, "Transpose");
    if (transpose != nullptr && swaps_last_two(*transpose)) {
      makers_.push_back(editor_.producer(row));
      const ValueId column = viewed(index, "Unsqueeze", transpose->inputs[0], column_axis(), ".column");
      return images_[row] = transposed(index, column, {0, 3, 1, 2}, row);
    }
    return images_[row] = viewed(index, "Unsqueeze", row, height_axis(), ".image");
  }

  /// Inserts a node before node `index` that only changes the shape of its input.
  ValueId viewed(int32_t index, const char* op, ValueId from, ValueId axis, const char* suffix) {
    const graph::Value& value = editor_.graph().value(from);
    const ValueId to = editor_.add_value(value.name + suffix, value.type.dtype);
    Node view = derived_node(editor_.node(index), op, {from, axis});
    view.name += suffix;
    view.outputs = {to};
    editor_.insert_before(index, std::move(view));
    return to;
  }

  ValueId transposed(int32_t index, ValueId from, std::vector<int64_t> perm, ValueId row) {
    const graph::Value& value = editor_.graph().value(row);
    const ValueId to = editor_.add_value(value.name + ".image", value.type.dtype);
    Node transpose = derived_node(editor_.node(index), "Transpose", {from});
    transpose.name += ".image";
    transpose.outputs = {to};
    transpose.attributes.set("perm", std::move(perm));
    editor_.insert_before(index, std::move(transpose));
    return to;
  }

  static bool swaps_last_two(const Node& transpose) {
    return transpose.attributes.get_or<std::vector<int64_t>>("perm", {}) == std::vector<int64_t>{0, 2, 1};
  }

  /// Transposes the image instead of the row; in the channels-last layout, its bytes stay in place.
  void lift_transpose(int32_t index) {
    const Node node = editor_.node(index);
    if (!swaps_last_two(node)) return;
    const ValueId column = transposed(index, images_.at(node.inputs[0]), {0, 2, 3, 1}, node.outputs[0]);
    Node squeeze = derived_node(node, "Squeeze", {column, column_axis()});
    squeeze.name += ".row";
    editor_.replace(index, std::move(squeeze));
  }

  ValueId constant_image(const Tensor& constant, ValueId id) {
    if (constant.rank() < 2) return id;
    tensor::Shape shape = constant.shape();
    shape.insert(shape.end() - 1, 1);
    const Tensor image = constant.reshaped(std::move(shape));
    return editor_.add_constant(editor_.graph().value(id).name + ".image", image);
  }

  ValueId height_axis() { return axis_constant(height_axis_, "height_axis", kHeightAxis); }
  ValueId column_axis() { return axis_constant(column_axis_, "column_axis", 1); }

  ValueId axis_constant(ValueId& made, const char* name, int64_t axis) {
    if (made == kNoValue) made = editor_.add_constant(name, Tensor::of<int64_t>({axis}, {1}));
    return made;
  }

  Editor& editor_;
  Summary& summary_;
  std::map<ValueId, ValueId> images_;  ///< by the row with the same elements
  std::vector<int32_t> makers_;        ///< producers of rows that exist as images
  ValueId height_axis_ = kNoValue;
  ValueId column_axis_ = kNoValue;
};

}  // namespace

Summary row_lifting(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  Lifting lifting(editor, summary);
  const int32_t count = editor.count();
  for (int32_t i = 0; i < count; ++i) lifting.visit(i);
  lifting.drop_unread();
  editor.commit();
  return summary;
}

}  // namespace hone::transform
