// Texts that are equal exactly when two steps (or graphs) would be timed alike: keys of the timing cache.
#pragma once

#include <string>

#include "engine/tensor_desc.hpp"
#include "graph/graph.hpp"

namespace hone::engine {

/// Operator, attributes with the bodies among them, operand types and which of them are constant, which
/// results leave the graph, layout, compute type.
std::string step_signature(const graph::Graph& graph, const graph::Node& node, Layout layout,
                           Precision precision);
/// A digest of all steps and how they hang together.
std::string graph_signature(const graph::Graph& graph, Precision precision);

}  // namespace hone::engine
