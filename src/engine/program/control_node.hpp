// Runs If, Loop and Scan with their subgraphs as programs of the device.
#pragma once

#include <memory>

#include "engine/program/node_kernel.hpp"
#include "engine/program/program.hpp"
#include "graph/graph.hpp"

namespace hone::engine {

/// Makes the kernel of a node of `graph`, with its key. `options` are those of the graph's program but for
/// the policy and layout, which are the subgraphs'. A subgraph that does not fit is bad input when it runs,
/// and not before. Null where the device cannot run one, because it has memory of its own and a shape inside
/// is not known.
std::shared_ptr<const NodeKernel> make_control_node(const graph::Graph& graph, const graph::Node& node,
                                                    const StepKey& key, const Device& device,
                                                    WeightStore& weights, const ProgramOptions& options);

}  // namespace hone::engine
