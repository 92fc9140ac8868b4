// Shape inference: applies every operator's rule in order and merges the result with declared types.
#pragma once

#include <map>
#include <string>

#include "graph/graph.hpp"

namespace hone::graph {

/// Fills in type and data of every value from the graph inputs and constants on. Bad input naming the
/// node where a rule fails or where an inferred type contradicts a declared one.
void infer_types(Graph& graph);

/// Infers the types of a graph that may never run, such as a branch that is not taken: where a rule fails, or
/// contradicts what is declared, the shapes of the node's outputs are unknown.
void infer_types_that_fit(Graph& graph);

/// Infers the types of one node of the graph whose inputs have theirs.
void infer_node(Graph& graph, const Node& node);

/// The same graph with inputs of exactly these shapes (by input name), inferred anew.
/// Usage error for an unknown name or a shape that contradicts the declared type.
Graph with_input_shapes(const Graph& graph, const std::map<std::string, tensor::Shape>& shapes);

}  // namespace hone::graph
