// Which nodes of a model TensorRT's parser takes, and why not the others.
#pragma once

#include <vector>

#include "backend/backend.hpp"
#include "backend/tensorrt/plugin/library/library.hpp"
#include "graph/graph.hpp"

namespace hone::backend::tensorrt {

/// For each node of the graph, in order, returns why the parser does not take it on inputs of the options'
/// shapes: the parser is asked about the whole graph, then about what is left without the nodes that it
/// refused, and so on. That it takes a node does not promise that the builder has a kernel for it.
std::vector<Refusal> refused_nodes(Library& library, const graph::Graph& graph, const LoadOptions& options);

}  // namespace hone::backend::tensorrt
