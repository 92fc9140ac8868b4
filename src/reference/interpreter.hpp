// Runs a graph node by node with the reference kernels.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "tensor/tensor.hpp"

namespace hone::reference {

/// Bad input when the number, a type or a shape of the inputs contradicts the graph, or inputs each other.
void check_inputs(const graph::Graph& graph, std::span<const tensor::Tensor> inputs);

/// Which symbol these shapes of inputs (in graph.inputs order) give two sizes, as a sentence; empty when
/// none: equal symbols are equal dimensions, which shape inference relies on.
std::string symbol_conflict(const graph::Graph& graph, std::span<const tensor::Shape> shapes);

/// Called after each node with its outputs; for taps, constant folding and debugging.
using NodeObserver = std::function<void(const graph::Node&, std::span<const tensor::Tensor>)>;

/// Outputs of the graph for these inputs (in graph.inputs order). Values are freed after their last
/// reader. Bad input when an input's type or shape contradicts the graph, or a kernel fails.
std::vector<tensor::Tensor> run_graph(const graph::Graph& graph, std::span<const tensor::Tensor> inputs,
                                      const NodeObserver& observer = {});

}  // namespace hone::reference
