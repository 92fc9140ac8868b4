// Finds the nodes of a model that TensorRT's parser refuses, and the reasons.
#pragma once

#include <vector>

#include "backend/backend.hpp"
#include "backend/tensorrt/plugin/library/library.hpp"
#include "graph/graph.hpp"

namespace hone::backend::tensorrt {

/// Returns for each node of the graph, in order, the reason why the parser refuses it on inputs of the
/// options' shapes. The parser is asked about the whole graph, then about the graph without the refused
/// nodes, and so on. The builder may still lack a kernel for a node that the parser accepts.
std::vector<Refusal> refused_nodes(Library& library, const graph::Graph& graph, const LoadOptions& options);

}  // namespace hone::backend::tensorrt
