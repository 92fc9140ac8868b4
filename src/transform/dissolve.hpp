// How a fused node is written as the nodes that it was made of: for devices that do not take it whole.
#pragma once

#include <array>
#include <vector>

#include "graph/graph.hpp"

namespace hone::transform {

/// Elementwise operations that follow each other in a node: the post-ops of a FusedElementwise or of a base
/// operator, and before them the bias of a FusedMatMul, and of a Gemm or FusedGemm that is a MatMul with a
/// bias. 0 for any other node.
size_t chained_ops(const graph::Node& node);

/// The node with the first `inside` of its chained operations, followed by a FusedElementwise of the others,
/// fewer than all. `between` is the value from one to the other. A base operator without operations is the
/// plain one; a FusedElementwise keeps one at least.
std::array<graph::Node, 2> split_chain(const graph::Node& node, size_t inside, graph::ValueId between);

/// The nodes that a region stands for, in the order they run. The values between them are added to the graph,
/// with the types that they have for the region's inputs.
std::vector<graph::Node> pieces_of_region(graph::Graph& graph, const graph::Node& region);

}  // namespace hone::transform
