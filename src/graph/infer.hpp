// Shape inference: applies the rule of every operator in order and merges the result with the declared types.
#pragma once

#include <map>
#include <string>

#include "graph/graph.hpp"

namespace hone::graph {

/// Fills in type and data of every value, starting from the graph inputs and constants. Throws bad input that
/// names the node if a rule fails or an inferred type contradicts a declared one.
void infer_types(Graph& graph);

/// Infers the types of a graph that may never run, such as a branch that is not taken. If a rule fails, or
/// contradicts the declared types, the shapes of the node's outputs are unknown.
void infer_types_that_fit(Graph& graph);

/// Infers the output types of one node of the graph; the types of its inputs must be known.
void infer_node(Graph& graph, const Node& node);

/// The same graph with inputs of exactly these shapes (by input name), inferred again. Throws a usage error
/// for an unknown name or a shape that contradicts the declared type.
Graph with_input_shapes(const Graph& graph, const std::map<std::string, tensor::Shape>& shapes);

}  // namespace hone::graph
