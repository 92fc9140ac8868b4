// See convolution_parts.hpp.
#include "transform/convolution_parts.hpp"

#include <algorithm>

#include "graph/convolution_geometry.hpp"

namespace hone::transform {

bool is_convolution(const Graph& graph, const Node& node, const tensor::Shape& wanted) {
  if (node.op != "Conv" && node.op != "FusedConv") return false;
  const auto& constant = graph.value(node.inputs[1]).constant;
  return constant && constant->shape() == wanted;
}

bool all_are(const std::vector<int64_t>& values, int64_t expected) {
  return std::all_of(values.begin(), values.end(), [=](int64_t value) { return value == expected; });
}

bool ends_with_bounds(const PostOps& post_ops, size_t from) {
  const bool bounds =
      post_ops.ops.size() <= from ||
      (post_ops.ops.size() == from + 1 && (post_ops.ops[from] == "relu" || post_ops.ops[from] == "clip"));
  return bounds && post_ops.extras.size() == from;
}

std::string part_refusal(const Graph& graph, const Node& node, size_t from) {
  if (node.has_input(2) && !graph.value(node.inputs[2]).constant)
    return fmt::format("the bias of '{}' is not constant", node.name);
  const tensor::Shape& filters = graph.value(node.inputs[1]).constant->shape();
  const graph::Window window = graph::read_window(node.attributes, {filters[2], filters[3]});
  const int64_t pad = filters[2] / 2;
  if (node.attributes.get_int("group") != 1 || window.auto_pad != graph::AutoPad::kNotSet ||
      !all_are(window.strides, 1) || !all_are(window.dilations, 1) || !all_are(window.pads_begin, pad) ||
      !all_are(window.pads_end, pad))
    return fmt::format("'{}' has groups, strides, dilations or other padding", node.name);
  if (!ends_with_bounds(post_ops_of(node), from))
    return fmt::format("'{}' ends with more than a Relu or Clip", node.name);
  return {};
}

void set_activation(Node& fused, const std::string& prefix, const Node& convolution, size_t from) {
  const PostOps post_ops = post_ops_of(convolution);
  const auto rest = [&](auto values) {
    values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(from));
    return values;
  };
  fused.attributes.set(prefix + "post_ops", rest(post_ops.ops));
  fused.attributes.set(prefix + "post_alphas", rest(post_ops.alphas));
  fused.attributes.set(prefix + "post_betas", rest(post_ops.betas));
}

}  // namespace hone::transform
