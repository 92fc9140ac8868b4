// Runs If, Loop and Scan, whose subgraphs are programs of the device.
#pragma once

#include <memory>

#include "engine/program/node_kernel.hpp"
#include "engine/program/program.hpp"
#include "graph/graph.hpp"

namespace hone::engine {

/// Makes the kernel of a node of `graph`, with its key. `options` are those of the graph's program, except
/// for the policy and layout, which are those of the subgraphs. A subgraph that does not fit causes bad input
/// only when it runs. Returns null if the device cannot run a subgraph, because it has its own memory and a
/// shape inside is unknown.
std::shared_ptr<const NodeKernel> make_control_node(const graph::Graph& graph, const graph::Node& node,
                                                    const StepKey& key, const Device& device,
                                                    WeightStore& weights, const ProgramOptions& options);

}  // namespace hone::engine
