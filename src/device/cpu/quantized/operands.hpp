// What steps with quantized operands share: their constants, and whether this CPU sums products of bytes
// exactly.
#pragma once

#include "engine/quantized_operands.hpp"

namespace hone::device::cpu {

using engine::byte_scale;
using engine::ByteScale;
using engine::constant_input;
using engine::keep_constants;
using graph::is_byte;

/// Why products of these bytes, of which the second are weights of int8, may come out wrong: without VNNI two
/// of them are added in 16 bits, which saturate. Empty where they are exact.
Refusal refuse_saturation(tensor::DType first, const tensor::Tensor* weights);

}  // namespace hone::device::cpu
