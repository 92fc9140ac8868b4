// Constants as passes look at them: scalars, per-channel vectors, and new tensors made of doubles.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.hpp"

namespace hone::transform {

using graph::DType;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;

/// The value of a constant that has one element, whatever its rank.
std::optional<double> scalar_constant(const Graph& graph, ValueId id);
/// True if the value is such a constant and `expected` to float32's precision (the exporter may have rounded
/// it once, and the format it was written in once more).
bool is_scalar(const Graph& graph, ValueId id, double expected);
/// True if every element of a constant is `expected`.
bool is_filled_with(const Graph& graph, ValueId id, double expected);
/// The elements of a constant of integers or truth values, or of a value whose elements shape inference
/// knows.
std::optional<std::vector<int64_t>> known_integers(const Graph& graph, ValueId id);

/// The elements, one per channel, of a constant that only varies along `axis` when it is broadcast against a
/// tensor of rank `rank`; a constant of one element is repeated.
std::optional<std::vector<double>> per_channel(const Graph& graph, ValueId id, int64_t rank, int64_t axis,
                                               int64_t channels);

/// Bytes of all constants; a float16 or bfloat16 counts as the float32 that half_widening may make of it.
double constant_bytes(const Graph& graph);

/// A tensor of these elements, rounded to `dtype` (a floating type).
Tensor floating_tensor(DType dtype, tensor::Shape shape, const std::vector<double>& elements);

}  // namespace hone::transform
