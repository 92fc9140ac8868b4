// See constants.hpp.
#include "transform/constants.hpp"

#include <algorithm>
#include <cmath>

namespace hone::transform {

std::optional<double> scalar_constant(const Graph& graph, ValueId id) {
  const Tensor* tensor = graph.constant(id);
  if (tensor == nullptr || tensor->size() != 1) return std::nullopt;
  return tensor->to_double()[0];
}

bool is_scalar(const Graph& graph, ValueId id, double expected) {
  const auto value = scalar_constant(graph, id);
  return value && std::abs(*value - expected) <= std::abs(expected) * 0x1p-22;
}

bool is_filled_with(const Graph& graph, ValueId id, double expected) {
  const Tensor* tensor = graph.constant(id);
  if (tensor == nullptr) return false;
  return tensor::visit_dtype(tensor->dtype(), [&]<class T>() {
    const auto elements = tensor->values<T>();
    return std::all_of(elements.begin(), elements.end(),
                       [&](T element) { return static_cast<double>(element) == expected; });
  });
}

std::optional<std::vector<int64_t>> known_integers(const Graph& graph, ValueId id) {
  if (id == graph::kNoValue) return std::nullopt;
  if (const Tensor* tensor = graph.constant(id)) {
    if (!tensor::is_integer(tensor->dtype()) && tensor->dtype() != DType::kBool) return std::nullopt;
    return tensor->to_int64();
  }
  const auto& data = graph.value(id).data;
  if (!data || !graph::all_known(*data)) return std::nullopt;
  std::vector<int64_t> integers;
  for (const graph::Dim& dim : *data) integers.push_back(dim.value());
  return integers;
}

std::optional<std::vector<double>> per_channel(const Graph& graph, ValueId id, int64_t rank, int64_t axis,
                                               int64_t channels) {
  const Tensor* tensor = graph.constant(id);
  if (tensor == nullptr || !tensor::is_floating(tensor->dtype()) || tensor->rank() > rank)
    return std::nullopt;
  const auto count = static_cast<size_t>(channels);
  if (tensor->size() == 1) return std::vector<double>(count, tensor->to_double()[0]);
  const int64_t own_axis = axis - (rank - tensor->rank());
  if (own_axis < 0 || tensor->size() != channels) return std::nullopt;
  if (tensor->shape()[static_cast<size_t>(own_axis)] != channels) return std::nullopt;
  return tensor->to_double();
}

double constant_bytes(const Graph& graph) {
  double bytes = 0;
  for (const graph::Value& value : graph.values) {
    if (!value.constant) continue;
    bytes +=
        static_cast<double>(value.constant->byte_size()) * (tensor::is_half(value.constant->dtype()) ? 2 : 1);
  }
  return bytes;
}

Tensor floating_tensor(DType dtype, tensor::Shape shape, const std::vector<double>& elements) {
  return Tensor::of<double>(elements, std::move(shape)).cast(dtype);
}

}  // namespace hone::transform
