// A graph that says itself in which type every step computes, for builders that no longer choose.
#pragma once

#include "graph/graph.hpp"
#include "tensor/precision.hpp"

namespace hone::backend::tensorrt {

/// The same graph, in which float32 is computed in float16 (kFp16) or bfloat16 (kBf16) between casts. Inputs
/// and outputs keep their types, constants beyond the range of the type become its largest number, and
/// operators whose results leave that range soon, or that hold graphs, stay in float32. Other precisions: as
/// it is.
graph::Graph typed(const graph::Graph& graph, tensor::Precision precision);

/// The same graph for a builder that chooses types itself, among them `precision`: in kFp16, finite float32
/// constants beyond the range of float16 become its largest number, as hone stores them itself. An infinite
/// mask would be NaN where it is multiplied by zero.
graph::Graph within_range(const graph::Graph& graph, tensor::Precision precision);

}  // namespace hone::backend::tensorrt
