// FusedStem: the convolution of an image, the max pool behind it, and the convolution of 1 x 1 that reads
// what they make.
#include "graph/operators/convolution_rules.hpp"
#include "graph/operators/fused_rules.hpp"
#include "graph/operators/type_rules.hpp"

namespace hone::graph {
namespace {

/// x [N, C, H, W], filters [K, C / group, R, S] and [L, K, 1, 1], biases [K] and [L] where there are any.
/// Results are [N, K, H, W], pooled, and [N, L, H, W].
void infer_stem(InferenceContext& context) {
  require_floating(context, 0);
  for (size_t i = 1; i < context.input_count(); ++i) {
    if (context.has_input(i)) require_same_dtype(context, 0, i);
  }
  for (const char* prefix : {"", "next_"}) check_activation(context, prefix);
  for (const size_t i : {0, 1, 2}) context.require_rank(i, 4, 4);
  const Dim channels = dim_of(context, 1, 0);
  const Dim next = dim_of(context, 2, 0);
  expect_dims(context, 2, {next, channels, 1, 1});
  expect_dims(context, 3, {channels});
  expect_dims(context, 4, {next});
  context.set_output(0, context.dtype(0), convolution_output(context, 0, 1));
  pool_result(context);
  std::optional<Dims> dims = context.results()[0].type.dims;
  if (dims) (*dims)[1] = next;
  context.set_output(1, context.dtype(0), std::move(dims));
}

/// The operations of what is pooled, of the pool, and of the next convolution with its activation.
double stem_flops(const Graph& graph, const Node& node) {
  const double results = value_elements(graph, node.output(1));
  const auto post_ops =
      static_cast<double>(node.attributes.get<std::vector<std::string>>("next_post_ops").size());
  return max_pooled_flops(graph, node, 3) + convolution_flops(graph, node, 2, 4, results) +
         post_ops * results;
}

}  // namespace

void add_stem_operator(std::vector<OperatorDef>& table) {
  std::vector<AttributeDef> attributes = pooled_convolution_attributes();
  for (const char* prefix : {"", "next_"}) add_post_op_attributes(attributes, prefix);
  table.push_back({.name = "FusedStem",
                   .since_version = 0,
                   .min_inputs = 3,
                   .max_inputs = 5,
                   .min_outputs = 2,
                   .max_outputs = 2,
                   .attributes = std::move(attributes),
                   .infer = infer_stem,
                   .flops = stem_flops});
}

}  // namespace hone::graph
