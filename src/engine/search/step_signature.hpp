// Texts that are equal exactly when two steps (or graphs) would be timed alike: keys of the timing cache.
#pragma once

#include <span>
#include <string>

#include "engine/numeric_policy.hpp"
#include "engine/tensor_desc.hpp"
#include "graph/graph.hpp"

namespace hone::engine {

/// Operator, attributes with the bodies among them, operand types and which of them are constant, which
/// results leave the graph, layout, and the numeric policies to choose from, in their order. No scales: they
/// are no part of a policy.
std::string step_signature(const graph::Graph& graph, const graph::Node& node, Layout layout,
                           std::span<const NumericPolicy> policies);
/// A digest of all steps and how they hang together.
std::string graph_signature(const graph::Graph& graph, std::span<const NumericPolicy> policies);

}  // namespace hone::engine
