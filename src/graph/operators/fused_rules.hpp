// What the operators of the fused family share.
#pragma once

#include <string>
#include <vector>

#include "graph/operator.hpp"

namespace hone::graph {

/// Attributes post_ops, post_alphas and post_betas behind `prefix`.
void add_post_op_attributes(std::vector<AttributeDef>& attributes, const std::string& prefix = {});

/// Checks those attributes where each post-op is an activation.
void check_activation(InferenceContext& context, const std::string& prefix);

void add_bottleneck_operator(std::vector<OperatorDef>& table);
void add_convolution_sum_operator(std::vector<OperatorDef>& table);

}  // namespace hone::graph
