// Helpers of steps with quantized operands: their constants, and whether this CPU sums products of bytes
// exactly.
#pragma once

#include "engine/quantized_operands.hpp"

namespace hone::device::cpu {

using engine::byte_scale;
using engine::ByteScale;
using engine::constant_input;
using engine::keep_constants;
using graph::is_byte;

/// The places of the inputs of an operator that multiplies bytes; kNone for an input that it does not have.
struct BytePositions {
  static constexpr size_t kNone = SIZE_MAX;
  size_t a, b, a_zero, b_zero;
  size_t a_scale = kNone, b_scale = kNone, y_scale = kNone, y_zero = kNone, bias = kNone;
};
/// ConvInteger and MatMulInteger.
inline constexpr BytePositions kSumPositions = {0, 1, 2, 3};
/// QLinearConv and QLinearMatMul.
inline constexpr BytePositions kQuantizedPositions = {0, 3, 2, 5, 1, 4, 6, 7, 8};

/// Why products of these bytes, of which the second are weights of int8, may come out wrong: without VNNI two
/// of them are added in 16 bits, which saturate. Empty where they are exact.
Refusal refuse_saturation(tensor::DType first, const tensor::Tensor* weights);

}  // namespace hone::device::cpu
