// Rounds weights to 16 bits so that the errors of a filter cancel.
#pragma once

#include "tensor/tensor.hpp"

namespace hone::tensor {

/// The axis of the weights along which filters (output features) are stored.
enum class FilterAxis : uint8_t { kFirst, kLast };

/// True if round_weights() accepts them: float32 of rank 2 or more.
inline bool can_round_weights(const Tensor& weights) {
  return weights.dtype() == DType::kFloat32 && weights.rank() >= 2;
}

/// Converts `weights` (float32, rank 2 or more) to `to` (float16 or bfloat16). Every weight is rounded to one
/// of its two neighbours in `to`: usually to the nearest, but a few weights near the middle go to the other
/// one, so that the errors of a filter add up to almost zero. A filter's output then keeps the common part of
/// its inputs, such as the mean of a ReLU's outputs, which would otherwise be multiplied by sum(error). If
/// filters are on the first axis and have windows (rank 3 or more), the errors of each channel's window are
/// balanced first, because adjacent pixels are similar; this raises the mean squared error of the weights by
/// about 5 %, the rest raises it by a fraction of a percent. If a filter contains values that are not finite
/// in `to`, it is only rounded to nearest, and finite values beyond the largest number of `to` become that
/// number.
Tensor round_weights(const Tensor& weights, DType to, FilterAxis axis);

}  // namespace hone::tensor
