// A region: one node that stands for several, with their graph as its body. Shapes, cost and reference
// result are those of the body. The kind names the pattern; tactics of a device are selected by it.
//
// The body is closed: its inputs are the region's inputs in the same order, including weights. The name
// of a node in the body is the role that it plays in the pattern. Bodies are never changed, since copies of
// a node share them. They hold only types that hold for all inputs; the others are inferred from the inputs.
#pragma once

#include <string>
#include <string_view>

#include "graph/graph.hpp"

namespace hone::graph {

/// The operator of every region.
inline constexpr std::string_view kRegion = "Region";

inline bool is_region(const Node& node) { return node.op == kRegion; }
/// The kind of a region, or the operator of any other node.
const std::string& kind_of(const Node& node);

const Graph& region_body(const Node& region);
/// A copy of the body with the types and constants that follow from the region's inputs.
Graph typed_body(const Graph& graph, const Node& region);

/// The node of the body that plays this role, or null.
const Node* find_part(const Node& region, std::string_view role);
/// Converts a node of the body to a node of the graph that contains the region: its operands are the
/// region's, and values that stay inside the region are absent.
Node outer_part(const Node& region, const Node& part);

}  // namespace hone::graph
