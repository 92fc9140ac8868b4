// Checks that every backend that runs graphs makes on the tensors it is given.
#pragma once

#include <map>
#include <span>
#include <string>

#include "graph/graph.hpp"
#include "tensor/tensor.hpp"

namespace hone::backend {

/// Bad input naming the input whose type or shape contradicts the graph, or when their number is wrong.
void check_inputs(const graph::Graph& graph, std::span<const tensor::Tensor> inputs);
/// The shapes of checked inputs by name, as graph::with_input_shapes takes them.
std::map<std::string, tensor::Shape> shapes_by_name(const graph::Graph& graph,
                                                    std::span<const tensor::Tensor> inputs);

}  // namespace hone::backend
