// Plans of the steps in the subgraphs of If, Loop and Scan, among those of the graph they belong to. Nodes of
// a subgraph are pieces of a piece of the node that has it: "12/0/3" is node 3 of the first subgraph of node
// 12.
#pragma once

#include <string>

#include "engine/step_plan.hpp"

namespace hone::engine {

/// The beginning of names of steps in a subgraph: "loop/body".
std::string subgraph_step_name(const std::string& node, const std::string& attribute);
/// The plans of the nodes of a subgraph, as plans of its own graph.
Plans plans_within(const Plans& plans, const StepKey& subgraph);
/// Adds plans of a subgraph's own graph to those of the graph it stands in.
void add_plans_within(Plans& plans, const StepKey& subgraph, const Plans& own);

}  // namespace hone::engine
