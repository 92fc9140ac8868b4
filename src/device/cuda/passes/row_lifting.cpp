// Makes images one pixel high of rows, [N, C, W], where convolutions read them: the kernels are written for
// images.
#include <map>

#include "device/cuda/passes/pass_list.hpp"
#include "transform/constants.hpp"
#include "transform/fusion.hpp"

namespace hone::device::cuda {

using namespace transform;

namespace {

constexpr int64_t kHeightAxis = 2;
constexpr size_t kRowRank = 3;

class Lifting {
 public:
  Lifting(Editor& editor, Summary& summary) : editor_(editor), summary_(summary) {}

  void visit(int32_t index) {
    const Node& node = editor_.node(index);
    if (!is_row(node.inputs.empty() ? kNoValue : node.inputs[0]) || node.outputs.size() != 1) return;
    if (node.op == "Conv") return lift_convolution(index);
    if (images_.count(node.inputs[0]) == 0) return;
    if (node.op == "MaxPool" || node.op == "AveragePool") return lift(index, widened(node), {});
    if (is_activation(node)) return lift(index, node, {});
    if (is_binary(node)) lift(index, node, {1});
  }

  /// Drops the rows that nobody reads: as readers of images they would keep those from being fused.
  void drop_unread() {
    for (const int32_t index : squeezes_) {
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

  /// Whether it computes each element alone, of its first input.
  bool is_activation(const Node& node) const {
    const auto found = as_post_ops(editor_.graph(), node, node.inputs[0]);
    return found.post_ops && found.post_ops->extras.empty();
  }

  /// Of two rows that no weights are: a residual, a gate.
  bool is_binary(const Node& node) const {
    if (node.op != "Add" && node.op != "Sub" && node.op != "Mul") return false;
    return is_row(node.inputs[1]) && editor_.graph().constant(node.inputs[1]) == nullptr;
  }

  /// The node with attributes of windows one pixel high.
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
    lift(index, std::move(image), {});
  }

  /// Makes `image` of images in the place of node `index`; its first input and those in `also` are rows.
  void lift(int32_t index, Node image, std::initializer_list<size_t> also) {
    image.inputs[0] = image_of(index, image.inputs[0]);
    for (const size_t input : also) image.inputs[input] = image_of(index, image.inputs[input]);
    const ValueId row = image.outputs[0];
    const graph::DType dtype = editor_.graph().value(row).type.dtype;
    const ValueId made = editor_.add_value(editor_.graph().value(row).name + ".image", dtype);
    Node squeeze = derived_node(image, "Squeeze", {made, height_axis()});
    squeeze.name += ".row";
    image.outputs = {made};
    images_[row] = made;
    editor_.insert_before(index, std::move(image));
    editor_.replace(index, std::move(squeeze));
    squeezes_.push_back(index);
  }

  ValueId image_of(int32_t index, ValueId row) {
    const auto known = images_.find(row);
    if (known != images_.end()) return known->second;
    const graph::Value& value = editor_.graph().value(row);
    const ValueId image = editor_.add_value(value.name + ".image", value.type.dtype);
    Node unsqueeze = derived_node(editor_.node(index), "Unsqueeze", {row, height_axis()});
    unsqueeze.name += ".image";
    unsqueeze.outputs = {image};
    editor_.insert_before(index, std::move(unsqueeze));
    return images_[row] = image;
  }

  ValueId height_axis() {
    if (height_axis_ == kNoValue)
      height_axis_ = editor_.add_constant("height_axis", Tensor::of<int64_t>({kHeightAxis}, {1}));
    return height_axis_;
  }

  Editor& editor_;
  Summary& summary_;
  std::map<ValueId, ValueId> images_;  ///< by the row of the same elements
  std::vector<int32_t> squeezes_;
  ValueId height_axis_ = kNoValue;
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

}  // namespace hone::device::cuda
