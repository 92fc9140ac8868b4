// Rounding weights to 16 bits so that the errors of a filter cancel.
#pragma once

#include "tensor/tensor.hpp"

namespace hone::tensor {

/// Which axis of the weights counts filters (output features).
enum class FilterAxis : uint8_t { kFirst, kLast };

/// True if round_weights() takes them: float32 of rank 2 or more.
inline bool can_round_weights(const Tensor& weights) {
  return weights.dtype() == DType::kFloat32 && weights.rank() >= 2;
}

/// `weights` (float32, rank 2 or more) as `to` (float16 or bfloat16). Every weight goes to one of its two
/// neighbours in `to`: to the nearest, except for a few near the middle between both, which go to the other
/// so that the errors of a filter add up to almost nothing. A filter's output then keeps the common part of
/// its inputs, such as the mean of a ReLU's outputs, instead of drifting by sum(error) times it. Where
/// filters come first and have windows (rank 3 or more) the errors of each channel's window are balanced
/// before, since neighbouring pixels have more in common; that raises the mean squared error of the weights
/// by some 5 %, the rest by a fraction of a percent. Filters that hold values which are not finite in `to`
/// are only rounded to the nearest, and finite ones beyond its largest number become that.
Tensor round_weights(const Tensor& weights, DType to, FilterAxis axis);

}  // namespace hone::tensor
