// Constants in the forms that passes need: scalars, per-channel vectors, and new tensors made from doubles.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.hpp"

namespace hone::transform {

using graph::DType;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;

/// The value of a constant with one element, of any rank.
std::optional<double> scalar_constant(const Graph& graph, ValueId id);
/// True if the value is such a constant and equals `expected` within the precision of float32 (the exporter
/// and the format of the file may each have rounded it once).
bool is_scalar(const Graph& graph, ValueId id, double expected);
/// True if every element of a constant is `expected`.
bool is_filled_with(const Graph& graph, ValueId id, double expected);
/// The elements of a constant of integers or booleans, or of a value whose elements shape inference knows.
std::optional<std::vector<int64_t>> known_integers(const Graph& graph, ValueId id);

/// One element for each channel, if the constant varies only along `axis` when it is broadcast against a
/// tensor of rank `rank`; a constant with one element is repeated.
std::optional<std::vector<double>> per_channel(const Graph& graph, ValueId id, int64_t rank, int64_t axis,
                                               int64_t channels);

/// Size of all constants; float16 and bfloat16 count as float32, to which half_widening may convert them.
double constant_bytes(const Graph& graph);

/// A tensor with these elements, rounded to `dtype` (a floating type).
Tensor floating_tensor(DType dtype, tensor::Shape shape, const std::vector<double>& elements);

}  // namespace hone::transform
