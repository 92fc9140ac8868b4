// Operator table entries of the fused family: operators made by passes from a base operator and post-ops.
#include <algorithm>

#include "graph/convolution_geometry.hpp"
#include "graph/operator_table.hpp"
#include "graph/operators/attribute_defs.hpp"
#include "graph/operators/batch_rules.hpp"
#include "graph/operators/convolution_rules.hpp"
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

/// One operation per element and post-op.
double post_op_flops(const Graph& graph, const Node& node) {
  const auto count = static_cast<double>(node.attributes.get<std::vector<std::string>>("post_ops").size());
  return count * value_elements(graph, node.output(0));
}

double fused_conv_flops(const Graph& graph, const Node& node) {
  return convolution_flops(graph, node, 1, 2) + post_op_flops(graph, node);
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
  attributes.push_back({"post_ops", Kind::kStrings, false, Attribute(std::vector<std::string>())});
  for (const char* name : {"post_alphas", "post_betas"})
    attributes.push_back({name, Kind::kFloats, false, Attribute(std::vector<float>())});
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
  const auto add_product = [&](OperatorDef def, Product product) {
    def.traits = {.product = product, .sums_products = true};
    table.push_back(std::move(def));
  };
  add_product(fused("FusedConv", 2, convolution_attributes(), infer_fused_conv, fused_conv_flops),
              Product::kConvolution);
  add_product(fused("FusedMatMul", 2, {}, infer_fused_matmul, fused_matmul_flops, nullptr),
              Product::kMatrices);
  add_product(
      fused("FusedGemm", 2, gemm_attributes(), infer_fused_gemm, fused_gemm_flops, keeps_batch_of_rows),
      Product::kMatrices);
  table.push_back(fused("FusedElementwise", 1, {}, infer_fused_elementwise, post_op_flops));
  table.back().traits.elementwise = true;
}

}  // namespace hone::graph
