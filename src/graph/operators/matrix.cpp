// Operator table entries of the matrix family. Einsum's rule is in einsum.cpp.
#include "graph/operators/matrix.hpp"

#include "graph/matmul_geometry.hpp"
#include "graph/operator_table.hpp"
#include "graph/operators/batch_rules.hpp"
#include "graph/operators/convolution_rules.hpp"
#include "graph/operators/rules.hpp"
#include "graph/operators/shape_parts.hpp"

namespace hone::graph {

void infer_matmul(InferenceContext& context) {
  require_same_dtype(context, 0, 1);
  context.set_output(0, context.dtype(0), matmul_dims(context));
}

std::optional<Dims> matmul_dims(const InferenceContext& context) {
  context.require_rank(0, 1, INT64_MAX);
  context.require_rank(1, 1, INT64_MAX);
  if (!context.ranked(0) || !context.ranked(1)) return std::nullopt;
  return matmul_dims(context.dims(0), context.dims(1));
}

double matmul_flops(const Graph& graph, const Node& node) {
  const Dims& a = *graph.value(node.input(0)).type.dims;
  return 2 * value_elements(graph, node.output(0)) * static_cast<double>(a.back().value());
}

void infer_gemm(InferenceContext& context) {
  context.require_rank(0, 2, 2);
  context.require_rank(1, 2, 2);
  require_same_dtype(context, 0, 1);
  if (context.has_input(2)) require_same_dtype(context, 0, 2);
  context.set_output(0, context.dtype(0), unknown_dims(2));
  if (!context.ranked(0) || !context.ranked(1)) return;
  const size_t trans_a = context.attributes().get_int("transA") != 0;
  const size_t trans_b = context.attributes().get_int("transB") != 0;
  unify(context, context.dims(0)[1 - trans_a], context.dims(1)[trans_b], "the common dimension");
  Dims result{context.dims(0)[trans_a], context.dims(1)[1 - trans_b]};
  if (context.has_input(2) && context.ranked(2)) {
    const Dims with_bias = broadcast_dims(result, context.dims(2));
    bool fits = with_bias.size() == 2;
    for (size_t i = 0; fits && i < 2; ++i) {
      fits = !result[i].known() || !with_bias[i].known() || result[i].same_as(with_bias[i]);
    }
    context.require(fits, "input C of shape {} does not broadcast to {}", dims_text(context.dims(2)),
                    dims_text(result));
  }
  context.set_output(0, context.dtype(0), std::move(result));
}

double gemm_flops(const Graph& graph, const Node& node) {
  const Dims& a = *graph.value(node.input(0)).type.dims;
  const Dim& depth = a[node.attributes.get_int("transA") != 0 ? 0 : 1];
  return 2 * value_elements(graph, node.output(0)) * static_cast<double>(depth.value());
}

std::vector<AttributeDef> gemm_attributes() {
  return {float_attribute("alpha", 1), float_attribute("beta", 1), int_attribute("transA", 0),
          int_attribute("transB", 0)};
}

namespace {

constexpr Traits kMatrices = {.product = Product::kMatrices, .sums_products = true};

void infer_det(InferenceContext& context) {
  require_floating(context, 0);
  context.require_rank(0, 2, INT64_MAX);
  context.set_output(0, context.dtype(0), std::nullopt);
  if (!context.ranked(0)) return;
  const Dims& dims = context.dims(0);
  unify(context, dims[dims.size() - 2], dims.back(), "the side of the matrices");
  context.set_output(0, context.dtype(0), Dims(dims.begin(), dims.end() - 2));
}

}  // namespace

void add_matrix_operators(std::vector<OperatorDef>& table) {
  table.push_back({.name = "MatMul",
                   .since_version = 13,
                   .min_inputs = 2,
                   .max_inputs = 2,
                   .infer = infer_matmul,
                   .flops = matmul_flops,
                   .traits = kMatrices});
  table.push_back({.name = "Gemm",
                   .since_version = 13,
                   .min_inputs = 2,
                   .max_inputs = 3,
                   .attributes = gemm_attributes(),
                   .infer = infer_gemm,
                   .flops = gemm_flops,
                   .traits = kMatrices,
                   .keeps_batch = keeps_batch_of_rows});
  table.push_back({.name = "Det", .since_version = 22, .min_inputs = 1, .max_inputs = 1, .infer = infer_det});
  add_einsum_operator(table);
}

}  // namespace hone::graph
