// Runs a graph node by node with the reference kernels.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "tensor/tensor.hpp"

namespace hone::reference {

/// Throws bad input if the number, a type or a shape of the inputs contradicts the graph, or if the inputs
/// contradict each other.
void check_inputs(const graph::Graph& graph, std::span<const tensor::Tensor> inputs);

/// If these shapes of inputs (in the order of graph.inputs) give a symbol two sizes, a sentence about it;
/// else empty. Equal symbols mean equal dimensions, and shape inference relies on this.
std::string symbol_conflict(const graph::Graph& graph, std::span<const tensor::Shape> shapes);

/// Called after each node with its outputs; used for taps, constant folding and debugging.
using NodeObserver = std::function<void(const graph::Node&, std::span<const tensor::Tensor>)>;

/// Outputs of the graph for these inputs (in the order of graph.inputs). Values are freed after their last
/// reader. Throws bad input if the type or shape of an input contradicts the graph, or if a kernel fails.
std::vector<tensor::Tensor> run_graph(const graph::Graph& graph, std::span<const tensor::Tensor> inputs,
                                      const NodeObserver& observer = {});

}  // namespace hone::reference
