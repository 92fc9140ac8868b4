// Makes a graph concrete for given input shapes. Values that a PyTorch module computes in Python integers
// (shapes, axes, small tables) become constants, and nodes that only serve those disappear.
#pragma once

#include <map>
#include <string>

#include "graph/graph.hpp"

namespace hone::backend::aten {

/// Only values of at most this number of elements are folded: shape arithmetic, never weights.
inline constexpr int64_t kMaxFoldedElements = 1024;

/// True if every dimension of every input is known once `shapes` are given.
bool binds_fully(const graph::Graph& graph, const std::map<std::string, tensor::Shape>& shapes);
/// Usage error if a shape contradicts the graph.
graph::Graph bind_shapes(const graph::Graph& graph, const std::map<std::string, tensor::Shape>& shapes);

}  // namespace hone::backend::aten
