// Splits a fused node into the nodes from which it was made, for devices that do not take it as a whole.
#pragma once

#include <array>
#include <vector>

#include "graph/graph.hpp"

namespace hone::transform {

/// The number of consecutive elementwise operations in a node: the post-ops of a FusedElementwise or of a
/// base operator, preceded by the bias of a FusedMatMul, or of a Gemm or FusedGemm that is a MatMul with a
/// bias. 0 for any other node.
size_t chained_ops(const graph::Node& node);

/// Returns the node with the first `inside` of its chained operations (fewer than all), followed by a
/// FusedElementwise with the others. `between` is the value between them. A base operator without operations
/// becomes the plain one; a FusedElementwise keeps at least one.
std::array<graph::Node, 2> split_chain(const graph::Node& node, size_t inside, graph::ValueId between);

/// Returns the nodes of a region in the order in which they run. The values between them are added to the
/// graph, with the types that they have for the region's inputs.
std::vector<graph::Node> pieces_of_region(graph::Graph& graph, const graph::Node& region);

}  // namespace hone::transform
