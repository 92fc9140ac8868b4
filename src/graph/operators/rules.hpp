// Rules that many operators share, except those that concern only attributes or only types.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/operator.hpp"
#include "graph/operators/attribute_defs.hpp"
#include "graph/operators/type_rules.hpp"

namespace hone::graph {

using InferRule = void (*)(InferenceContext&);

/// Requires an integer type; bool is not one.
void require_integer(const InferenceContext& context, size_t input);
/// Requires a type for indices, axes and shapes: int32 or int64.
void require_index_type(const InferenceContext& context, size_t input);
void require_bool(const InferenceContext& context, size_t input);

/// Output 0 has the type and shape of input 0.
void infer_same(InferenceContext& context);
/// Infers that the output has the type and shape of the input, which must be floating-point.
void infer_same_floating(InferenceContext& context);
/// Output 0 has the common type of all inputs and their broadcast shape.
void infer_broadcast(InferenceContext& context);
/// The broadcast shape of all inputs; nullopt if a rank is unknown.
std::optional<Dims> broadcast_inputs(const InferenceContext& context);

/// Converts an axis in [-rank, rank) to [0, rank); for others, throws bad input that names `what` and the
/// value.
int64_t checked_axis(const InferenceContext& context, int64_t axis, int64_t rank, std::string_view what);
/// Checks a list of axes, which must not repeat one.
std::vector<int64_t> checked_axes(const InferenceContext& context, const std::vector<int64_t>& axes,
                                  int64_t rank);

/// Product of dims[first, last).
Dim product(const Dims& dims, size_t first, size_t last);

/// Requires that an attribute has one of these values.
void require_choice(const InferenceContext& context, std::string_view attribute,
                    std::initializer_list<std::string_view> choices);

}  // namespace hone::graph
