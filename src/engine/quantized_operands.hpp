// Reads the constants of a quantized region, which devices need before they make its kernel: scales and zero
// points, and the factor and the addend that constants give each channel of a product's sums.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/kernel.hpp"
#include "graph/quantized_chain.hpp"

namespace hone::engine {

/// The meaning of an operand's bytes: one scale and one zero point for the whole tensor.
struct ByteScale {
  tensor::DType dtype = tensor::DType::kUInt8;
  float scale = 1;
  int32_t zero_point = 0;

  float lowest() const { return dtype == tensor::DType::kUInt8 ? 0.0f : -128.0f; }
  float highest() const { return dtype == tensor::DType::kUInt8 ? 255.0f : 127.0f; }
};

/// The constant that an input of the step is; null if it is not a constant.
const tensor::Tensor* constant_input(const StepRequest& request, size_t input);

/// The scale of a byte operand with one constant scale in float32; nullopt for any other operand.
std::optional<ByteScale> byte_scale(const StepRequest& request, const graph::QuantizedOperand& operand);
/// The scale of a rounding stage.
std::optional<ByteScale> byte_scale(const StepRequest& request, const graph::QuantizedStage& stage);

/// Adds all constants of the chain except the product's weights to the offer in plain form, so that engines
/// keep them unchanged, because kernels read them when they are made.
void keep_constants(const StepRequest& request, const graph::QuantizedChain& chain, Offer& offer);

/// A product's result is sum · factors[c] + addends[c], before the stages from `next` on.
struct ChannelSums {
  std::vector<double> factors;
  std::vector<double> addends;
  bool has_addends = false;
  size_t next = 0;
};

/// Reads the bias and, with `stages`, the constants that are added or multiplied first. `factors` are the
/// scales of the sums, one for each channel along `axis` of a result with `rank` axes. Returns a refusal if
/// the bias is not a constant with one value, or one for each channel.
Refusal read_channel_sums(const StepRequest& request, const graph::QuantizedChain& chain,
                          std::vector<double> factors, int64_t rank, int64_t axis, bool stages,
                          ChannelSums& sums);

}  // namespace hone::engine
