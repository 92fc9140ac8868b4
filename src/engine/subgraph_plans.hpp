// Stores plans of steps in the subgraphs of If, Loop and Scan among those of the surrounding graph. Nodes of
// a subgraph are pieces of a piece of the node that contains it: "12/0/3" is node 3 of the first subgraph of
// node 12.
#pragma once

#include <string>

#include "engine/step_plan.hpp"

namespace hone::engine {

/// The prefix of names of steps in a subgraph: "loop/body".
std::string subgraph_step_name(const std::string& node, const std::string& attribute);
/// Returns the plans of the nodes of a subgraph, with keys of the subgraph's own graph.
Plans plans_within(const Plans& plans, const StepKey& subgraph);
/// Adds plans with keys of a subgraph's own graph to those of the surrounding graph.
void add_plans_within(Plans& plans, const StepKey& subgraph, const Plans& own);

}  // namespace hone::engine
