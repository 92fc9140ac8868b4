// Checks that every backend for graphs makes on the tensors that it is given.
#pragma once

#include <map>
#include <span>
#include <string>

#include "graph/graph.hpp"
#include "tensor/tensor.hpp"

namespace hone::backend {

/// Bad input, naming the input, if a type or shape contradicts
/// the graph, or if the number of inputs is wrong.
void check_inputs(const graph::Graph& graph, std::span<const tensor::Tensor> inputs);
/// The shapes of checked inputs by name, in the form that graph::with_input_shapes() takes.
std::map<std::string, tensor::Shape> shapes_by_name(const graph::Graph& graph,
                                                    std::span<const tensor::Tensor> inputs);

}  // namespace hone::backend
