// The rounding at the end of kernels that compute in double.
#pragma once

#include <span>

#include "tensor/convert.hpp"
#include "tensor/tensor.hpp"

namespace hone::reference {

/// Writes one value per element.
inline void store_rounded(tensor::Tensor& y, std::span<const double> values) {
  tensor::visit_dtype(y.dtype(), [&]<class T>() {
    const auto out = y.mutable_values<T>();
    for (size_t i = 0; i < out.size(); ++i) out[i] = tensor::convert<T>(values[i]);
  });
}

}  // namespace hone::reference
