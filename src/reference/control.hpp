// The rules of If, Loop and Scan for their subgraphs, whoever runs these.
#pragma once

#include <functional>
#include <vector>

#include "graph/graph.hpp"
#include "tensor/tensor.hpp"

namespace hone::reference {

/// Runs the subgraph of that attribute on these inputs; both lists are in the subgraph's order.
using BodyRunner = std::function<std::vector<tensor::Tensor>(const char* attribute,
                                                             const std::vector<tensor::Tensor>& inputs)>;

/// Outputs of an If, a Loop or a Scan whose subgraphs `run` runs. Inputs are null where they are absent.
/// Bad input naming the node when a condition, a trip count or a length does not fit.
std::vector<tensor::Tensor> run_control(const graph::Node& node, std::vector<const tensor::Tensor*> inputs,
                                        const BodyRunner& run);

}  // namespace hone::reference
