// FusedBottleneck: the convolution of 3 x 3 of a bottleneck, the one of 1 x 1 behind it with the shortcut
// added, and, where it is a part, the one of 1 x 1 that begins the next bottleneck.
#include "graph/operators/batch_rules.hpp"
#include "graph/operators/convolution_rules.hpp"
#include "graph/operators/fused_rules.hpp"
#include "graph/operators/type_rules.hpp"

namespace hone::graph {
namespace {

constexpr const char* kActivations[] = {"window_", "wide_", "narrow_"};

/// x [N, C, H, W], filters [M, C, 3, 3], [K, M, 1, 1] and [L, K, 1, 1], shortcut [N, K, H, W], biases [M],
/// [K] and [L] where there are any; with filters [K, S, 1, 1] of a projection, and their bias [K], the
/// shortcut is [N, S, H, W]. Results are [N, K, H, W] and [N, L, H, W]; without the third filters the first.
void infer_bottleneck(InferenceContext& context) {
  require_floating(context, 0);
  for (size_t i = 1; i < context.input_count(); ++i) {
    if (context.has_input(i)) require_same_dtype(context, 0, i);
  }
  for (const char* prefix : kActivations) check_activation(context, prefix);
  context.require(context.has_input(4), "required input 4 is missing");
  for (const size_t i : {0, 1, 2, 4}) context.require_rank(i, 4, 4);
  for (const auto& [filters, bias] : {std::pair<size_t, size_t>(3, 7), {8, 9}}) {
    if (context.has_input(filters)) {
      context.require_rank(filters, 4, 4);
    } else {
      context.require(!context.has_input(bias), "input {} is the bias of filters, which input {} lacks", bias,
                      filters);
    }
  }
  const Dim channels = dim_of(context, 0, 1);
  const Dim middle = dim_of(context, 1, 0);
  const Dim wide = dim_of(context, 2, 0);
  expect_dims(context, 1, {middle, channels, 3, 3});
  expect_dims(context, 2, {wide, middle, 1, 1});
  expect_dims(context, 5, {middle});
  expect_dims(context, 6, {wide});
  const bool projects = context.has_input(8);
  if (projects) {
    expect_dims(context, 8, {wide, dim_of(context, 4, 1), 1, 1});
    expect_dims(context, 9, {wide});
  }
  Dims result = {dim_of(context, 0, 0), wide, dim_of(context, 0, 2), dim_of(context, 0, 3)};
  Dims shortcut = result;
  if (projects) shortcut[1] = dim_of(context, 4, 1);
  expect_dims(context, 4, shortcut);
  context.set_output(0, context.dtype(0), result);
  const bool narrows = context.has_input(3);
  context.require(context.output_count() == (narrows ? 2 : 1), "{} outputs {} input 3",
                  context.output_count(), narrows ? "with" : "without");
  if (!narrows) {
    context.require(context.attributes().get<std::vector<std::string>>("narrow_post_ops").empty(),
                    "attribute 'narrow_post_ops' is of a convolution whose filters, input 3, are missing");
    return;
  }
  const Dim narrow = dim_of(context, 3, 0);
  expect_dims(context, 3, {narrow, wide, 1, 1});
  expect_dims(context, 7, {narrow});
  result[1] = narrow;
  context.set_output(1, context.dtype(0), result);
}

/// The operations of all convolutions with their activations, and of the addition.
double bottleneck_flops(const Graph& graph, const Node& node) {
  const double wide = value_elements(graph, node.output(0));
  const auto filters = [&](size_t i) {
    return static_cast<double>(graph.value(node.inputs[i]).type.dims->front().value());
  };
  const auto post_ops = [&](size_t i) {
    return static_cast<double>(
        node.attributes.get<std::vector<std::string>>(std::string(kActivations[i]) + "post_ops").size());
  };
  const double middle = wide / filters(2) * filters(1);
  double flops = convolution_flops(graph, node, 1, 5, middle) + convolution_flops(graph, node, 2, 6, wide) +
                 wide + post_ops(0) * middle + post_ops(1) * wide;
  if (node.has_input(3)) {
    const double narrow = value_elements(graph, node.output(1));
    flops += convolution_flops(graph, node, 3, 7, narrow) + post_ops(2) * narrow;
  }
  if (node.has_input(8)) flops += convolution_flops(graph, node, 8, 9, wide);
  return flops;
}

}  // namespace

void add_bottleneck_operator(std::vector<OperatorDef>& table) {
  std::vector<AttributeDef> attributes;
  for (const char* prefix : kActivations) add_post_op_attributes(attributes, prefix);
  table.push_back({.name = "FusedBottleneck",
                   .since_version = 0,
                   .min_inputs = 3,
                   .max_inputs = 10,
                   .min_outputs = 1,
                   .max_outputs = 2,
                   .attributes = std::move(attributes),
                   .infer = infer_bottleneck,
                   .flops = bottleneck_flops,
                   .keeps_batch = keeps_batch_always});
}

}  // namespace hone::graph
