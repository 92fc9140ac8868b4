// Dissolving: what a device does not take whole is written as pieces that it takes.
#pragma once

#include <functional>
#include <vector>

#include "graph/graph.hpp"

namespace hone::engine {

/// True if the node was fused of others.
bool is_fused(const graph::Node& node);

/// True if it is fused of more than one operation, so that it can run as pieces.
bool has_pieces(const graph::Node& node);

/// Pieces of a fused node in the order they run: of a region, the nodes in its body; of a base operator and
/// its post-ops, the operator with the first of them, as far as `takes` says that a tactic takes them, and a
/// FusedElementwise of the others. None where the device would take neither. Values between the pieces are
/// added to the graph; `takes` is asked about nodes that read and make them.
std::vector<graph::Node> dissolve(graph::Graph& graph, const graph::Node& whole,
                                  const std::function<bool(const graph::Node&)>& takes);

/// Inputs of a whole node that none of its pieces reads: constants that others were computed of.
std::vector<graph::ValueId> unread_inputs(const graph::Node& whole, const std::vector<graph::Node>& pieces);

}  // namespace hone::engine
