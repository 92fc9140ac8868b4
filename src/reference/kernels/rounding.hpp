// The one rounding at the end of kernels that compute in double.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <type_traits>

#include "tensor/tensor.hpp"

namespace hone::reference {

/// The value in type T: rounded to the nearest for floating-point types (16-bit ones by way of float), with
/// its fraction cut off and saturated for integers, whether it is not 0 for bool.
template <class T>
T from_double(double value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<T>) {
    constexpr double kLowest = static_cast<double>(std::numeric_limits<T>::lowest());
    constexpr double kHighest = static_cast<double>(std::numeric_limits<T>::max());
    if (!(value > kLowest)) return std::numeric_limits<T>::lowest();
    return value < kHighest ? static_cast<T>(value) : std::numeric_limits<T>::max();
  } else if constexpr (std::is_same_v<T, double>) {
    return value;
  } else {
    return T(static_cast<float>(value));
  }
}

/// Writes one value per element.
inline void store_rounded(tensor::Tensor& y, std::span<const double> values) {
  tensor::visit_dtype(y.dtype(), [&]<class T>() {
    const auto out = y.mutable_values<T>();
    for (size_t i = 0; i < out.size(); ++i) out[i] = from_double<T>(values[i]);
  });
}

}  // namespace hone::reference
