// Narrows float32 to 16 bits for storage that the model did not request. Finite values stay finite, because
// with infinities 0 * inf and inf - inf of masks would be NaN. A model's own Cast rounds as ONNX specifies
// (convert.hpp).
#pragma once

#include <cmath>
#include <cstdint>

#include "tensor/float_types.hpp"
#include "tensor/tensor.hpp"

namespace hone::tensor {

/// True if a finite value would become infinite as a T.
template <class T>
bool is_beyond(float value) {
  return std::isfinite(value) && std::isinf(static_cast<float>(T(value)));
}

/// Rounds to nearest; a finite value beyond the largest number of T becomes that number.
template <class T>
T saturated(float value) {
  T narrow(value);
  // The bit pattern before that of an infinity is the largest number.
  if (is_beyond<T>(value)) --narrow.bits;
  return narrow;
}

/// Converts float32 to `to` (float16 or bfloat16) element by element; other tensors are cast.
Tensor saturated(const Tensor& values, DType to);

/// The number of elements of a float32 tensor that become the largest number of `to`; 0 for other types.
int64_t count_saturated(const Tensor& values, DType to);

}  // namespace hone::tensor
