// Fuses two convolutions whose results are added, as a residual block with a projected shortcut ends (He et
// al. 2016): they make the same pixels, so that one product along both depths makes the sum, and what the
// first one makes need not be written and read.
#include <algorithm>

#include "device/cuda/passes/pass_list.hpp"
#include "graph/convolution_geometry.hpp"
#include "transform/fusion.hpp"
#include "transform/region.hpp"

namespace hone::device::cuda {

using namespace transform;

namespace {

// Limits of the kernel (warpgroup_sum.hpp).
constexpr int64_t kChannelMultiple = 8;
constexpr int64_t kMostStride = 8;
constexpr int64_t kMostKernel = 127;
constexpr int64_t kMostPixels = int64_t{1} << 20;    ///< of a row or column
constexpr int64_t kMostElements = int64_t{1} << 30;  ///< of an image

bool is_convolution(const Node& node) { return node.op == "Conv" || node.op == "FusedConv"; }

/// True if images of that type, (N, C, H, W), are known to be larger than the kernel's.
bool is_large(const graph::TensorType& type) {
  int64_t elements = 1;
  for (size_t i = 1; i < type.dims->size(); ++i) {
    const graph::Dim& dim = (*type.dims)[i];
    if (!dim.known()) return false;
    if ((i > 1 && dim.value() > kMostPixels) || dim.value() > kMostElements / std::max<int64_t>(elements, 1))
      return true;
    elements *= dim.value();
  }
  return false;
}

/// Why a convolution cannot be one of both; empty when it can.
Refusal convolution_refusal(const Graph& graph, const Node& node) {
  const auto& filters = graph.value(node.inputs[1]).constant;
  if (!filters || (node.has_input(2) && !graph.value(node.inputs[2]).constant))
    return fmt::format("the filters or the bias of '{}' are not constant", node.name);
  const tensor::Shape& shape = filters->shape();
  if (shape.size() != 4) return fmt::format("the windows of '{}' have not two axes", node.name);
  if (shape[0] % kChannelMultiple != 0 || shape[1] % kChannelMultiple != 0)
    return fmt::format("channels or filters of '{}' are no multiple of {}", node.name, kChannelMultiple);
  const graph::Window window = graph::read_window(node.attributes, {shape[2], shape[3]});
  bool fits = node.attributes.get_int("group") == 1 && window.auto_pad == graph::AutoPad::kNotSet;
  for (size_t i = 0; i < window.rank(); ++i) {
    fits = fits && window.kernel[i] <= kMostKernel && window.dilations[i] == 1 &&
           window.strides[i] <= kMostStride && window.pads_begin[i] < window.kernel[i] &&
           window.pads_end[i] < window.kernel[i];
  }
  if (!fits) return fmt::format("'{}' has groups, dilations or windows of another kind", node.name);
  if (is_large(graph.value(node.inputs[0]).type) || is_large(graph.value(node.outputs[0]).type))
    return fmt::format("the images of '{}' are too large", node.name);
  return {};
}

/// Why `last`, which adds what `other` makes, stays a step of its own; empty when it does not.
Refusal refusal(const Graph& graph, const Node& other, const Node& last) {
  for (const Node* node : {&other, &last}) {
    if (Refusal reason = convolution_refusal(graph, *node)) return reason;
  }
  if (!post_ops_of(other).ops.empty())
    return fmt::format("'{}' has an activation ahead of the addition", other.name);
  const PostOps post_ops = post_ops_of(last);
  if (post_ops.ops.size() > 2 ||
      (post_ops.ops.size() == 2 && post_ops.ops[1] != "relu" && post_ops.ops[1] != "clip"))
    return fmt::format("'{}' ends with more than a Relu or Clip", last.name);
  const graph::TensorType& type = graph.value(last.outputs[0]).type;
  if (type.dtype != graph::DType::kFloat32) return "its elements are not float32";
  if (!same_shape(graph.value(other.outputs[0]).type, type)) return "one result is broadcast";
  return {};
}

/// Both biases as one; none where there is none.
ValueId add_biases(Editor& editor, const Node& other, const Node& last) {
  if (!other.has_input(2)) return last.input(2);
  if (!last.has_input(2)) return other.input(2);
  const tensor::Tensor& a = *editor.graph().value(other.input(2)).constant;
  tensor::Tensor sum = editor.graph().value(last.input(2)).constant->clone();
  auto values = sum.mutable_values<float>();
  std::transform(values.begin(), values.end(), a.values<float>().begin(), values.begin(), std::plus<float>());
  return editor.add_constant(editor.graph().value(last.input(2)).name, std::move(sum));
}

Node fuse(Editor& editor, Node other, Node last) {
  last.inputs[2] = add_biases(editor, other, last);
  other.inputs.resize(2);
  return make_region("conv_sum", {{"shortcut", other}, {"sum", last}}, {last.outputs[0]});
}

}  // namespace

Summary convolution_sum_fusion(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (!editor.alive(i) || !is_convolution(editor.node(i))) continue;
    const Node last = editor.node(i);
    const PostOps post_ops = post_ops_of(last);
    if (post_ops.ops.empty() || post_ops.ops[0] != "add" || post_ops.extras.size() != 1) continue;
    const int32_t producer = editor.producer(post_ops.extras[0]);
    if (producer < 0 || !editor.read_once(post_ops.extras[0]) || !is_convolution(editor.node(producer)))
      continue;
    const Node other = editor.node(producer);
    if (const Refusal reason = refusal(graph, other, last)) {
      summary.refuse(fmt::format("'{}' + '{}' not fused: {}", other.name, last.name, reason.text()));
      continue;
    }
    summary.change(fmt::format("'{}' and '{}' became one node", other.name, last.name));
    Node fused = fuse(editor, other, last);
    editor.remove(producer);
    editor.replace(i, std::move(fused));
  }
  editor.commit();
  return summary;
}

}  // namespace hone::device::cuda
