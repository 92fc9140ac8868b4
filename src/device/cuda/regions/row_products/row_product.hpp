// Products of few rows with constant matrices, as the kernel for a decoder's token takes them.
#pragma once

#include "graph/graph.hpp"

namespace hone::device::cuda {

/// That the kernel has side by side (matrix_vector.hpp).
constexpr size_t kMostProducts = 4;

/// True if the node multiplies few rows with a constant matrix, and adds a constant row at most before its
/// post-ops.
bool is_row_product(const graph::Graph& graph, const graph::Node& node);

}  // namespace hone::device::cuda
