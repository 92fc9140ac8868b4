// Signatures that are equal exactly if two steps (or graphs) would have equal times; they are the keys of the
// timing cache.
#pragma once

#include <span>
#include <string>

#include "engine/numeric_policy.hpp"
#include "engine/tensor_desc.hpp"
#include "graph/graph.hpp"

namespace hone::engine {

/// Includes the operator, its attributes with their bodies, operand types and which operands are constant,
/// which results are outputs of the graph, the layout, and the possible numeric policies in their order.
/// Scales are not included, because they are not part of a policy.
std::string step_signature(const graph::Graph& graph, const graph::Node& node, Layout layout,
                           std::span<const NumericPolicy> policies);
/// A digest of all steps and of their connections.
std::string graph_signature(const graph::Graph& graph, std::span<const NumericPolicy> policies);

}  // namespace hone::engine
