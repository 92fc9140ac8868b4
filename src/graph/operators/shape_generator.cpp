// Operator table entries that create tensors from a few numbers.
#include <algorithm>
#include <cmath>

#include "graph/operators/rules.hpp"
#include "graph/operators/shape_parts.hpp"

namespace hone::graph {
namespace {

using Kind = AttributeKind;

/// Longest list of integers that shape inference follows.
constexpr int64_t kMaxFollowed = 64;

/// ceil((limit - start) / delta) of three constants, at least 0; nullopt if one is not constant.
std::optional<int64_t> range_length(const InferenceContext& context) {
  const auto start = context.known_data(0);
  const auto limit = context.known_data(1);
  const auto delta = context.known_data(2);
  if (start && limit && delta) {
    if (start->size() != 1 || limit->size() != 1 || delta->size() != 1) return std::nullopt;
    context.require(delta->front() != 0, "input 'delta' is 0");
    const auto step = static_cast<__int128>(delta->front());
    const __int128 span = static_cast<__int128>(limit->front()) - start->front();
    const __int128 count = (span + step + (step > 0 ? -1 : 1)) / step;
    if (count <= 0) return 0;
    context.require(count <= INT64_MAX, "the range has too many elements");
    return static_cast<int64_t>(count);
  }
  double values[3];
  for (size_t i = 0; i < 3; ++i) {
    const Tensor* constant = context.constant(i);
    if (constant == nullptr || constant->size() != 1 || !tensor::is_floating(constant->dtype()))
      return std::nullopt;
    values[i] = constant->to_double()[0];
  }
  context.require(values[2] != 0, "input 'delta' is 0");
  const double count = std::ceil((values[1] - values[0]) / values[2]);
  context.require(count < 0x1p62, "the range has too many elements");
  return count > 0 ? static_cast<int64_t>(count) : 0;
}

void infer_range(InferenceContext& context) {
  for (size_t i = 0; i < 3; ++i) {
    context.require_rank(i, 0, 1);
    require_same_dtype(context, 0, i);
  }
  const auto length = range_length(context);
  context.set_output(0, context.dtype(0), Dims{length ? Dim(*length) : Dim()});
  if (!length) {
    // Range(0, n, 1) has the length n, even if n is a symbol.
    const auto start = context.data(0);
    const auto limit = context.data(1);
    const auto delta = context.data(2);
    if (start && limit && delta && start->size() == 1 && limit->size() == 1 && delta->size() == 1 &&
        start->front().is(0) && delta->front().is(1)) {
      context.set_output(0, context.dtype(0), Dims{limit->front()});
    }
    return;
  }
  if (*length > kMaxFollowed || !tensor::is_integer(context.dtype(0))) return;
  Dims data;
  for (int64_t i = 0; i < *length; ++i) {
    data.push_back((*context.known_data(0))[0] + i * (*context.known_data(2))[0]);
  }
  context.set_output_data(0, std::move(data));
}

void infer_constant_of_shape(InferenceContext& context) {
  const auto& value = context.attributes().get<Tensor>("value");
  context.require(value.size() == 1, "attribute 'value' has {} elements, expected one", value.size());
  require_index_type(context, 0);
  context.set_output(0, value.dtype(), std::nullopt);
  const auto rank = described_rank(context, 0);
  if (!rank) return;
  const auto data = context.data(0);
  for (const Dim& dim : data.value_or(Dims())) {
    context.require(!dim.known() || dim.value() >= 0, "the shape has dimension {}", dim.text());
  }
  context.set_output(0, value.dtype(), data.value_or(unknown_dims(*rank)));
  if (!data || data->size() > 1 || !tensor::is_integer(value.dtype())) return;
  const Dim count = product(*data, 0, data->size());
  if (!count.known() || count.value() > kMaxFollowed) return;
  context.set_output_data(0, Dims(static_cast<size_t>(count.value()), Dim(value.to_int64()[0])));
}

void infer_eye_like(InferenceContext& context) {
  context.require_rank(0, 2, 2);
  DType dtype = context.dtype(0);
  if (context.attributes().has("dtype")) {
    const int64_t wanted = context.attributes().get_int("dtype");
    const bool supported = wanted > 0 && wanted <= 255 && tensor::is_supported(static_cast<DType>(wanted));
    context.require(supported, "attribute 'dtype' is {}, which is no supported element type", wanted);
    dtype = static_cast<DType>(wanted);
  }
  context.set_output(0, dtype, context.input(0).dims);
}

void infer_trilu(InferenceContext& context) {
  context.require_rank(0, 2, INT64_MAX);
  infer_same(context);
}

}  // namespace

void add_generator_operators(std::vector<OperatorDef>& table) {
  table.push_back({.name = "Range",
                   .since_version = 11,
                   .min_inputs = 3,
                   .max_inputs = 3,
                   .infer = infer_range,
                   .traits = {.discontinuous = true}});
  table.push_back({.name = "ConstantOfShape",
                   .since_version = 21,
                   .min_inputs = 1,
                   .max_inputs = 1,
                   .attributes = {{"value", Kind::kTensor, false, Attribute(Tensor::of<float>({0}, {1}))}},
                   .infer = infer_constant_of_shape});
  table.push_back({.name = "EyeLike",
                   .since_version = 22,
                   .min_inputs = 1,
                   .max_inputs = 1,
                   .attributes = {optional_attribute("dtype", Kind::kInt), int_attribute("k", 0)},
                   .infer = infer_eye_like});
  table.push_back({.name = "Trilu",
                   .since_version = 14,
                   .min_inputs = 1,
                   .max_inputs = 2,
                   .attributes = {int_attribute("upper", 1)},
                   .infer = infer_trilu});
}

}  // namespace hone::graph
