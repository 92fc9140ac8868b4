// See rules.hpp.
#include "graph/operators/rules.hpp"

#include <algorithm>

namespace hone::graph {

namespace {

void require_kind(const InferenceContext& context, size_t input, bool holds, const char* expected) {
  const DType dtype = context.dtype(input);
  context.require(dtype == DType::kUndefined || holds, "input {} has type {}, expected {}", input,
                  tensor::dtype_name(dtype), expected);
}

}  // namespace

void require_integer(const InferenceContext& context, size_t input) {
  require_kind(context, input, tensor::is_integer(context.dtype(input)), "an integer type");
}

void require_index_type(const InferenceContext& context, size_t input) {
  const DType dtype = context.dtype(input);
  require_kind(context, input, dtype == DType::kInt64 || dtype == DType::kInt32, "int64 or int32");
}

void require_bool(const InferenceContext& context, size_t input) {
  require_kind(context, input, context.dtype(input) == DType::kBool, "bool");
}

void infer_same(InferenceContext& context) { context.set_output(0, context.dtype(0), context.input(0).dims); }

void infer_same_floating(InferenceContext& context) {
  require_floating(context, 0);
  infer_same(context);
}

void infer_broadcast(InferenceContext& context) {
  for (size_t i = 1; i < context.input_count(); ++i) require_same_dtype(context, 0, i);
  context.set_output(0, context.dtype(0), broadcast_inputs(context));
}

std::optional<Dims> broadcast_inputs(const InferenceContext& context) {
  std::optional<Dims> dims;
  for (size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has_input(i)) continue;
    if (!context.ranked(i)) return std::nullopt;
    dims = dims ? broadcast_dims(*dims, context.dims(i)) : context.dims(i);
  }
  return dims;
}

int64_t checked_axis(const InferenceContext& context, int64_t axis, int64_t rank, std::string_view what) {
  context.require(axis >= -rank && axis < rank, "{} is {}, outside rank {}", what, axis, rank);
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> checked_axes(const InferenceContext& context, const std::vector<int64_t>& axes,
                                  int64_t rank) {
  std::vector<int64_t> result;
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (const int64_t value : axes) {
    const int64_t axis = checked_axis(context, value, rank, "axis");
    context.require(!seen[static_cast<size_t>(axis)], "axis {} is named twice", value);
    seen[static_cast<size_t>(axis)] = true;
    result.push_back(axis);
  }
  return result;
}

Dim product(const Dims& dims, size_t first, size_t last) {
  Dim result = 1;
  for (size_t i = first; i < last; ++i) result = result * dims[i];
  return result;
}

void require_choice(const InferenceContext& context, std::string_view attribute,
                    std::initializer_list<std::string_view> choices) {
  const std::string& value = context.attributes().get_string(attribute);
  context.require(std::find(choices.begin(), choices.end(), value) != choices.end(),
                  "attribute '{}' is '{}', expected one of {}", attribute, value, fmt::join(choices, ", "));
}

}  // namespace hone::graph
