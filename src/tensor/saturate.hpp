// Narrowing float32 for storage in 16 bits, where no model asked for it: what is finite stays finite, since
// 0 * inf and inf - inf of masks would be NaN. A model's own Cast rounds as ONNX says (convert.hpp).
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

/// Rounds to the nearest; a finite value beyond the largest one of T becomes that one.
template <class T>
T saturated(float value) {
  T narrow(value);
  // The bits next to those of an infinity, towards zero.
  if (is_beyond<T>(value)) --narrow.bits;
  return narrow;
}

/// float32 as `to` (float16 or bfloat16), element by element; other tensors are cast.
Tensor saturated(const Tensor& values, DType to);

/// How many elements of a float32 tensor change to the largest of `to`; 0 for other types.
int64_t count_saturated(const Tensor& values, DType to);

}  // namespace hone::tensor
