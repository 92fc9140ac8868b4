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

/// Those of a convolution and of the max pool behind it.
std::vector<AttributeDef> pooled_convolution_attributes();

/// Makes the type of output 0, a convolution's, that of what the node pools it to.
void pool_result(InferenceContext& context);

/// Elements of what a node that pools convolves ahead of that, of inputs 0 and 1.
double pooled_elements(const Graph& graph, const Node& node);
/// The operations of that convolution of so many results, with a bias at input `bias`, and of its post-ops.
double pooled_convolution_flops(const Graph& graph, const Node& node, size_t bias, double results);
/// The same and one for each element of every window of the max pool.
double max_pooled_flops(const Graph& graph, const Node& node, size_t bias);

void add_bottleneck_operator(std::vector<OperatorDef>& table);
void add_convolution_sum_operator(std::vector<OperatorDef>& table);
void add_stem_operator(std::vector<OperatorDef>& table);

}  // namespace hone::graph
