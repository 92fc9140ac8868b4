// What steps with quantized operands share: constant scales, and whether this CPU sums products of bytes
// exactly.
#pragma once

#include <optional>

#include "engine/kernel.hpp"
#include "graph/quantized_chain.hpp"

namespace hone::device::cpu {

/// How the bytes of an operand stand for numbers.
struct ByteScale {
  tensor::DType dtype = tensor::DType::kUInt8;
  float scale = 1;
  int32_t zero_point = 0;

  float lowest() const { return dtype == tensor::DType::kUInt8 ? 0.0f : -128.0f; }
  float highest() const { return dtype == tensor::DType::kUInt8 ? 255.0f : 127.0f; }
};

using graph::is_byte;

/// The constant that an input of the step is; null for another one.
const tensor::Tensor* constant_input(const engine::StepRequest& request, size_t input);

/// Of an operand with one constant scale of float32 whose numbers are bytes; nullopt for any other one.
std::optional<ByteScale> byte_scale(const engine::StepRequest& request,
                                    const graph::QuantizedOperand& operand);
/// The same of a stage that rounds.
std::optional<ByteScale> byte_scale(const engine::StepRequest& request, const graph::QuantizedStage& stage);

/// Scales and zero points of this operand are read when the step is made: an engine keeps them as they are.
void keep_constants(const engine::StepRequest& request, const graph::QuantizedOperand& operand,
                    engine::Offer& offer);
/// The same of all operands but the weights themselves.
void keep_constants(const engine::StepRequest& request, const graph::QuantizedChain& chain,
                    engine::Offer& offer);

/// Why products of these bytes, of which the second are weights of int8, may come out wrong: without VNNI two
/// of them are added in 16 bits, which saturate. Empty where they are exact.
Refusal refuse_saturation(tensor::DType first, const tensor::Tensor* weights);

}  // namespace hone::device::cpu
