// See fused_rules.hpp.
#include "graph/operators/fused_rules.hpp"

#include "graph/convolution_geometry.hpp"
#include "graph/operators/attribute_defs.hpp"
#include "graph/operators/convolution_rules.hpp"
#include "graph/post_op.hpp"

namespace hone::graph {

void add_post_op_attributes(std::vector<AttributeDef>& attributes, const std::string& prefix) {
  attributes.push_back(
      {prefix + "post_ops", AttributeKind::kStrings, false, Attribute(std::vector<std::string>())});
  attributes.push_back(
      {prefix + "post_alphas", AttributeKind::kFloats, false, Attribute(std::vector<float>())});
  attributes.push_back(
      {prefix + "post_betas", AttributeKind::kFloats, false, Attribute(std::vector<float>())});
}

void check_activation(InferenceContext& context, const std::string& prefix) {
  const Attributes part = context.attributes().part(prefix);
  const auto& ops = part.get<std::vector<std::string>>("post_ops");
  for (const char* name : {"post_alphas", "post_betas"}) {
    const size_t count = part.get<std::vector<float>>(name).size();
    context.require(count == ops.size(), "attribute '{}{}' has {} entries for {} post-ops", prefix, name,
                    count, ops.size());
  }
  for (const std::string& op : ops) {
    const auto kind = find_post_op(op);
    context.require(kind && !is_binary(*kind), "attribute '{}post_ops' names '{}', which is no activation",
                    prefix, op);
  }
}

std::vector<AttributeDef> pooled_convolution_attributes() {
  std::vector<AttributeDef> attributes = convolution_attributes();
  for (const char* name : {"pool_kernel_shape", "pool_pads", "pool_strides"})
    attributes.push_back(required_attribute(name, AttributeKind::kInts));
  attributes.push_back(int_attribute("pool_ceil_mode", 0));
  return attributes;
}

void pool_result(InferenceContext& context) {
  std::optional<Dims> dims = context.results()[0].type.dims;
  if (dims) {
    const Attributes pool = max_pool_attributes(context.attributes());
    const auto& kernel = pool.get_ints("kernel_shape");
    context.require(kernel.size() + 2 == dims->size(),
                    "attribute 'pool_kernel_shape' has {} entries, expected {}", kernel.size(),
                    dims->size() - 2);
    const Window window = read_window(pool, kernel);
    for (size_t i = 0; i < window.rank(); ++i) (*dims)[i + 2] = window_output(window, i, (*dims)[i + 2]);
  }
  context.set_output(0, context.dtype(0), std::move(dims));
}

double pooled_elements(const Graph& graph, const Node& node) {
  std::vector<int64_t> shapes[2];
  for (size_t i = 0; i < 2; ++i) {
    for (const Dim& dim : *graph.value(node.inputs[i]).type.dims) shapes[i].push_back(dim.value());
  }
  double elements = 1;
  for (const int64_t size : read_convolution(node.attributes, shapes[0], shapes[1]).output_shape())
    elements *= static_cast<double>(size);
  return elements;
}

double pooled_convolution_flops(const Graph& graph, const Node& node, size_t bias, double results) {
  const auto post_ops = static_cast<double>(node.attributes.get<std::vector<std::string>>("post_ops").size());
  return convolution_flops(graph, node, 1, bias, results) + post_ops * results;
}

double max_pooled_flops(const Graph& graph, const Node& node, size_t bias) {
  double window = 1;
  for (const int64_t size : node.attributes.get_ints("pool_kernel_shape"))
    window *= static_cast<double>(size);
  return pooled_convolution_flops(graph, node, bias, pooled_elements(graph, node)) +
         window * value_elements(graph, node.output(0));
}

}  // namespace hone::graph
