// The rules of If, Loop and Scan for running their subgraphs, independent of the engine that runs them.
#pragma once

#include <functional>
#include <vector>

#include "graph/graph.hpp"
#include "tensor/tensor.hpp"

namespace hone::reference {

/// Runs the subgraph in this attribute on these inputs; inputs and results are in the order of the subgraph.
using BodyRunner = std::function<std::vector<tensor::Tensor>(const char* attribute,
                                                             const std::vector<tensor::Tensor>& inputs)>;

/// Outputs of an If, a Loop or a Scan, whose subgraphs are run by `run`. Absent inputs are null. Throws bad
/// input that names the node if a condition, a trip count or a length does not fit.
std::vector<tensor::Tensor> run_control(const graph::Node& node, std::vector<const tensor::Tensor*> inputs,
                                        const BodyRunner& run);

}  // namespace hone::reference
