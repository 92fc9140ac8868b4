// Dissolving: replaces a node that a device does not take by pieces that it takes.
#pragma once

#include <functional>
#include <vector>

#include "graph/graph.hpp"

namespace hone::engine {

/// True if the node was fused from others.
bool is_fused(const graph::Node& node);

/// True if it was fused from more than one operation, so that it can run as pieces.
bool has_pieces(const graph::Node& node);

/// Returns the pieces of a fused node in the order in which they run. For a region, they are the nodes in its
/// body. For a base operator with post-ops, they are the operator with those of its first post-ops that a
/// tactic accepts (according to `takes`), and a FusedElementwise of the others. Returns nothing if the device
/// would accept neither. Values between the pieces are added to the graph; `takes` is called for nodes that
/// use them.
std::vector<graph::Node> dissolve(graph::Graph& graph, const graph::Node& whole,
                                  const std::function<bool(const graph::Node&)>& takes);

/// Inputs of a whole node that none of its pieces reads: constants from which others were computed.
std::vector<graph::ValueId> unread_inputs(const graph::Node& whole, const std::vector<graph::Node>& pieces);

}  // namespace hone::engine
