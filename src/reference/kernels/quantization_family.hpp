// The kernels of the quantization family, and the rounding they share.
#pragma once

#include <cmath>
#include <limits>

#include "reference/kernel.hpp"

namespace hone::reference {

// quantized_products.cpp
void conv_integer(KernelContext& context);
void qlinear_conv(KernelContext& context);
void matmul_integer(KernelContext& context);
void qlinear_matmul(KernelContext& context);

/// round(value) + zero_point, with halves rounded to even, saturated to T; NaN becomes the lowest value.
template <class T>
T quantize(double value, double zero_point) {
  constexpr double kLowest = std::numeric_limits<T>::lowest();
  constexpr double kHighest = std::numeric_limits<T>::max();
  const double rounded = std::nearbyint(value) + zero_point;
  if (!(rounded > kLowest)) return std::numeric_limits<T>::lowest();
  return rounded < kHighest ? static_cast<T>(rounded) : std::numeric_limits<T>::max();
}

}  // namespace hone::reference
