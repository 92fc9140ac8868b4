// See saturate.hpp.
#include "tensor/saturate.hpp"

#include <algorithm>

namespace hone::tensor {
namespace {

template <class T>
Tensor saturated_as(const Tensor& values, DType to) {
  Tensor result(to, values.shape());
  const auto from = values.values<float>();
  std::transform(from.begin(), from.end(), result.mutable_values<T>().begin(),
                 [](float value) { return saturated<T>(value); });
  return result;
}

template <class T>
int64_t count_as(const Tensor& values) {
  const auto from = values.values<float>();
  return std::count_if(from.begin(), from.end(), is_beyond<T>);
}

}  // namespace

Tensor saturated(const Tensor& values, DType to) {
  if (values.dtype() != DType::kFloat32) return values.cast(to);
  if (to == DType::kFloat16) return saturated_as<Half>(values, to);
  if (to == DType::kBFloat16) return saturated_as<BFloat16>(values, to);
  return values.cast(to);
}

int64_t count_saturated(const Tensor& values, DType to) {
  if (values.dtype() != DType::kFloat32 || values.bytes() == nullptr) return 0;
  if (to == DType::kFloat16) return count_as<Half>(values);
  if (to == DType::kBFloat16) return count_as<BFloat16>(values);
  return 0;
}

}  // namespace hone::tensor
