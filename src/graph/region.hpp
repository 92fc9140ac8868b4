// A region: one node that stands for several, with the graph of them as its body. Shapes, cost and reference
// result are those of the body; the kind says which pattern it is, which the tactics of a device match on.
//
// The body is closed: its inputs are the region's inputs, one for one, and weights are among them. The name
// of a node in the body is the role that it plays in the pattern. Bodies are never changed, since copies of
// a node share them, and hold no types but those that any inputs give: the others follow from the inputs.
#pragma once

#include <string>
#include <string_view>

#include "graph/graph.hpp"

namespace hone::graph {

/// The operator of every region.
inline constexpr std::string_view kRegion = "Region";

inline bool is_region(const Node& node) { return node.op == kRegion; }
/// The kind of a region; the operator of any other node.
const std::string& kind_of(const Node& node);

const Graph& region_body(const Node& region);
/// A copy of the body with the types and constants that it has for the region's inputs.
Graph typed_body(const Graph& graph, const Node& region);

/// The node of the body that plays this role, or null.
const Node* find_part(const Node& region, std::string_view role);
/// A node of the body as one of the graph that the region is in: its operands are the region's, and values
/// that stay inside the region are absent.
Node outer_part(const Node& region, const Node& part);

}  // namespace hone::graph
