// Rules of the matrix products, shared with their fused forms.
#pragma once

#include <optional>
#include <vector>

#include "graph/operator.hpp"

namespace hone::graph {

/// The product of inputs 0 and 1 as in numpy.matmul.
void infer_matmul(InferenceContext& context);
std::optional<Dims> matmul_dims(const InferenceContext& context);
double matmul_flops(const Graph& graph, const Node& node);

/// alpha * A' * B' + beta * C.
void infer_gemm(InferenceContext& context);
double gemm_flops(const Graph& graph, const Node& node);
std::vector<AttributeDef> gemm_attributes();

void add_einsum_operator(std::vector<OperatorDef>& table);

}  // namespace hone::graph
