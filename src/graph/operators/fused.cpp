// Operator table entries of the fused family: a base operator followed by post-ops, as passes make them.
#include <algorithm>

#include "graph/convolution_geometry.hpp"
#include "graph/operator_table.hpp"
#include "graph/operators/attribute_defs.hpp"
#include "graph/operators/batch_rules.hpp"
#include "graph/operators/convolution_rules.hpp"
#include "graph/operators/fused_rules.hpp"
#include "graph/operators/matrix.hpp"
#include "graph/operators/rules.hpp"
#include "graph/post_op.hpp"

namespace hone::graph {
namespace {

using Kind = AttributeKind;

/// Input `i` must broadcast to output 0 without making it larger.
void require_broadcast_into_result(const InferenceContext& context, const Dims& result, size_t i) {
  require_same_dtype(context, 0, i);
  if (!context.ranked(i)) return;
  const Dims both = broadcast_dims(result, context.dims(i));
  bool fits = both.size() == result.size();
  for (size_t d = 0; fits && d < result.size(); ++d) {
    fits = !both[d].known() || !result[d].known() || both[d].same_as(result[d]);
  }
  context.require(fits, "input {} of shape {} does not broadcast to the result {}", i,
                  dims_text(context.dims(i)), dims_text(result));
}

/// Checks the post-ops of a node whose output 0 has been inferred already.
void check_post_ops(InferenceContext& context, size_t first_extra) {
  const auto& ops = context.attributes().get<std::vector<std::string>>("post_ops");
  for (const char* name : {"post_alphas", "post_betas"}) {
    const size_t count = context.attributes().get<std::vector<float>>(name).size();
    context.require(count == ops.size(), "attribute '{}' has {} entries for {} post-ops", name, count,
                    ops.size());
  }
  size_t next = first_extra;
  for (const std::string& op : ops) {
    const auto kind = find_post_op(op);
    context.require(kind.has_value(), "attribute 'post_ops' names '{}', which is no post-op", op);
    if (!is_binary(*kind)) continue;
    context.require(context.has_input(next), "post-op '{}' lacks its operand, input {}", op, next);
    const auto& dims = context.results()[0].type.dims;
    if (dims) require_broadcast_into_result(context, *dims, next);
    ++next;
  }
  context.require(context.input_count() <= std::max(next, first_extra),
                  "{} inputs, of which the post-ops use {}", context.input_count(), next);
}

void infer_fused_conv(InferenceContext& context) {
  find_operator("Conv")->infer(context);
  check_post_ops(context, 3);
}

/// The max pool of output 0, whose type has been inferred ahead of it.
void infer_pool_behind(InferenceContext& context) {
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

void infer_fused_conv_max_pool(InferenceContext& context) {
  infer_fused_conv(context);
  infer_pool_behind(context);
}

/// x [N, C, spatial...], filters [M, C / group, kernel...], and a bias [M] where there is one; filters
/// [L, M, 1...], and a bias [L] where there is one. Results are what the pool makes and [N, L, spatial...].
void infer_fused_stem(InferenceContext& context) {
  context.require(context.has_input(3), "required input 3 is missing");
  for (size_t i = 1; i < context.input_count(); ++i) {
    if (context.has_input(i)) require_same_dtype(context, 0, i);
  }
  for (const char* prefix : {"", "next_"}) check_activation(context, prefix);
  find_operator("Conv")->infer(context);
  infer_pool_behind(context);
  std::optional<Dims> dims = context.results()[0].type.dims;
  const Dim next = dim_of(context, 3, 0);
  expect_dims(context, 4, {next});
  if (dims) {
    Dims filters(dims->size(), Dim(1));
    filters[0] = next;
    filters[1] = (*dims)[1];
    expect_dims(context, 3, filters);
    (*dims)[1] = next;
  }
  context.set_output(1, context.dtype(0), std::move(dims));
}

void infer_fused_conv_global_pool(InferenceContext& context) {
  infer_fused_conv(context);
  std::optional<Dims> dims = context.results()[0].type.dims;
  if (dims) std::fill(dims->begin() + 2, dims->end(), Dim(1));
  context.set_output(0, context.dtype(0), std::move(dims));
}

void infer_fused_matmul(InferenceContext& context) {
  infer_matmul(context);
  const auto& dims = context.results()[0].type.dims;
  if (dims && context.has_input(2)) require_broadcast_into_result(context, *dims, 2);
  check_post_ops(context, 3);
}

void infer_fused_gemm(InferenceContext& context) {
  infer_gemm(context);
  check_post_ops(context, 3);
}

void infer_fused_elementwise(InferenceContext& context) {
  infer_same_floating(context);
  check_post_ops(context, 1);
}

/// x [N, C, spatial...], weights [S, C, 1...] and [C, S, 1...], biases [S] and [C] where there are any.
void infer_fused_squeeze_excite(InferenceContext& context) {
  infer_same_floating(context);
  context.require_rank(0, 3, 16);
  for (size_t i = 1; i < context.input_count(); ++i) require_same_dtype(context, 0, i);
  for (const char* prefix : {"squeeze_", "gate_"}) check_activation(context, prefix);
  const Dim hidden = dim_of(context, 1, 0);
  const Dim channels = dim_of(context, 1, 1);
  expect_dims(context, 3, {hidden});
  expect_dims(context, 4, {channels});
  if (!context.ranked(0)) return;
  const Dims& x = context.dims(0);
  Dims weights(x.size(), Dim(1));
  weights[0] = hidden;
  weights[1] = x[1];
  expect_dims(context, 1, weights);
  std::swap(weights[0], weights[1]);
  expect_dims(context, 2, weights);
}

/// One operation per element and post-op.
double post_op_flops(const Graph& graph, const Node& node) {
  const auto count = static_cast<double>(node.attributes.get<std::vector<std::string>>("post_ops").size());
  return count * value_elements(graph, node.output(0));
}

double fused_conv_flops(const Graph& graph, const Node& node) {
  return convolution_flops(graph, node, 1, 2) + post_op_flops(graph, node);
}

/// Elements of what the convolution makes ahead of its pool.
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

/// The operations of a convolution of so many results and of its post-ops.
double pooled_conv_flops(const Graph& graph, const Node& node, double results) {
  const auto post_ops = static_cast<double>(node.attributes.get<std::vector<std::string>>("post_ops").size());
  return convolution_flops(graph, node, 1, 2, results) + post_ops * results;
}

/// The operations of the convolution that is pooled, and one for each element of every window of the pool.
double fused_conv_max_pool_flops(const Graph& graph, const Node& node) {
  double window = 1;
  for (const int64_t size : node.attributes.get_ints("pool_kernel_shape"))
    window *= static_cast<double>(size);
  return pooled_conv_flops(graph, node, pooled_elements(graph, node)) +
         window * value_elements(graph, node.output(0));
}

/// Those, and the operations of the convolution that follows and of its activation.
double fused_stem_flops(const Graph& graph, const Node& node) {
  const double results = value_elements(graph, node.output(1));
  const auto ops = node.attributes.get<std::vector<std::string>>("next_post_ops").size();
  return fused_conv_max_pool_flops(graph, node) + convolution_flops(graph, node, 3, 4, results) +
         static_cast<double>(ops) * results;
}

/// The operations of the convolution that is pooled, and one for each of its results.
double fused_conv_global_pool_flops(const Graph& graph, const Node& node) {
  const double results = pooled_elements(graph, node);
  return pooled_conv_flops(graph, node, results) + results;
}

/// The operations of the pool, of both convolutions with their activations, and of the product.
double fused_squeeze_excite_flops(const Graph& graph, const Node& node) {
  const double elements = value_elements(graph, node.inputs[0]);
  const auto batch = static_cast<double>(graph.value(node.inputs[0]).type.dims->front().value());
  double flops = 2 * elements;
  for (const auto& [prefix, w] : {std::pair("squeeze_", size_t{1}), std::pair("gate_", size_t{2})}) {
    const auto filters = static_cast<double>(graph.value(node.inputs[w]).type.dims->front().value());
    const auto ops = node.attributes.part(prefix).get<std::vector<std::string>>("post_ops").size();
    flops += convolution_flops(graph, node, w, w + 2, batch * filters) +
             static_cast<double>(ops) * batch * filters;
  }
  return flops;
}

double fused_matmul_flops(const Graph& graph, const Node& node) {
  const double bias = node.has_input(2) ? value_elements(graph, node.output(0)) : 0;
  return matmul_flops(graph, node) + bias + post_op_flops(graph, node);
}

double fused_gemm_flops(const Graph& graph, const Node& node) {
  return gemm_flops(graph, node) + post_op_flops(graph, node);
}

OperatorDef fused(std::string name, int min_inputs, std::vector<AttributeDef> attributes, InferRule infer,
                  double (*flops)(const Graph&, const Node&),
                  bool (*keeps_batch)(const Graph&, const Node&, int64_t) = keeps_batch_always) {
  add_post_op_attributes(attributes);
  return {.name = std::move(name),
          .since_version = 0,
          .min_inputs = min_inputs,
          .max_inputs = OperatorDef::kVariadic,
          .attributes = std::move(attributes),
          .infer = infer,
          .flops = flops,
          .keeps_batch = keeps_batch};
}

}  // namespace

void add_fused_operators(std::vector<OperatorDef>& table) {
  table.push_back(fused("FusedConv", 2, convolution_attributes(), infer_fused_conv, fused_conv_flops));
  std::vector<AttributeDef> pooled = convolution_attributes();
  for (const char* name : {"pool_kernel_shape", "pool_pads", "pool_strides"})
    pooled.push_back(required_attribute(name, Kind::kInts));
  pooled.push_back(int_attribute("pool_ceil_mode", 0));
  std::vector<AttributeDef> stem = pooled;
  for (const char* prefix : {"", "next_"}) add_post_op_attributes(stem, prefix);
  table.push_back({.name = "FusedStem",
                   .since_version = 0,
                   .min_inputs = 2,
                   .max_inputs = 5,
                   .min_outputs = 2,
                   .max_outputs = 2,
                   .attributes = std::move(stem),
                   .infer = infer_fused_stem,
                   .flops = fused_stem_flops,
                   .keeps_batch = keeps_batch_always});
  table.push_back(
      fused("FusedConvMaxPool", 2, std::move(pooled), infer_fused_conv_max_pool, fused_conv_max_pool_flops));
  table.push_back(fused("FusedConvGlobalPool", 2, convolution_attributes(), infer_fused_conv_global_pool,
                        fused_conv_global_pool_flops));
  table.push_back(fused("FusedMatMul", 2, {}, infer_fused_matmul, fused_matmul_flops, nullptr));
  table.push_back(
      fused("FusedGemm", 2, gemm_attributes(), infer_fused_gemm, fused_gemm_flops, keeps_batch_of_rows));
  std::vector<AttributeDef> activations;
  for (const char* prefix : {"squeeze_", "gate_"}) add_post_op_attributes(activations, prefix);
  table.push_back({.name = "FusedSqueezeExcite",
                   .since_version = 0,
                   .min_inputs = 3,
                   .max_inputs = 5,
                   .attributes = std::move(activations),
                   .infer = infer_fused_squeeze_excite,
                   .flops = fused_squeeze_excite_flops,
                   .keeps_batch = keeps_batch_always});
  add_bottleneck_operator(table);
  add_convolution_sum_operator(table);
  table.push_back(fused("FusedElementwise", 1, {}, infer_fused_elementwise, post_op_flops));
  table.back().traits.elementwise = true;
}

}  // namespace hone::graph
