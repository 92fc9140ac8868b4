// Makes graphs that define the type of every step, for builders that no longer choose types.
#pragma once

#include "graph/graph.hpp"
#include "tensor/precision.hpp"

namespace hone::backend::tensorrt {

/// The same graph, in which float32 is computed in float16 (kFp16) or bfloat16 (kBf16) between casts. Inputs
/// and outputs keep their types. Constants beyond the range of the type become its largest number. Operators
/// whose results easily exceed that range, or that contain graphs, stay in float32. For other precisions, the
/// graph is unchanged.
graph::Graph typed(const graph::Graph& graph, tensor::Precision precision);

/// The same graph for a builder that chooses types itself, possibly `precision`. For kFp16, finite float32
/// constants beyond the range of float16 become its largest number, as in hone's own storage. If such a mask
/// became infinite, multiplying it by zero would give NaN.
graph::Graph within_range(const graph::Graph& graph, tensor::Precision precision);

}  // namespace hone::backend::tensorrt
