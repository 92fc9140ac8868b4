// Readers of a quantized region's constants, which devices need before they make its kernel: scales and zero
// points, and the factor and the addend that constants give each channel of a product's sums.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/kernel.hpp"
#include "graph/quantized_chain.hpp"

namespace hone::engine {

/// How the bytes of an operand stand for numbers: one scale and one zero point for all of a tensor.
struct ByteScale {
  tensor::DType dtype = tensor::DType::kUInt8;
  float scale = 1;
  int32_t zero_point = 0;

  float lowest() const { return dtype == tensor::DType::kUInt8 ? 0.0f : -128.0f; }
  float highest() const { return dtype == tensor::DType::kUInt8 ? 255.0f : 127.0f; }
};

/// The constant that an input of the step is; null for another one.
const tensor::Tensor* constant_input(const StepRequest& request, size_t input);

/// The scale of an operand of bytes with one constant scale in float32; nullopt for any other operand.
std::optional<ByteScale> byte_scale(const StepRequest& request, const graph::QuantizedOperand& operand);
/// The scale of a stage that rounds.
std::optional<ByteScale> byte_scale(const StepRequest& request, const graph::QuantizedStage& stage);

/// Puts all constants of the chain but the product's weights into the offer, plain, so that engines keep
/// them as they are: kernels read them when they are made.
void keep_constants(const StepRequest& request, const graph::QuantizedChain& chain, Offer& offer);

/// A product's result is sum · factors[c] + addends[c] before the stages from `next` on.
struct ChannelSums {
  std::vector<double> factors;
  std::vector<double> addends;
  bool has_addends = false;
  size_t next = 0;
};

/// The bias and, with `stages`, the constants that are added or multiplied before anything else. `factors`:
/// what a sum stands for, one for each channel along `axis` of a result with `rank` axes. A refusal where the
/// bias is no constant of one value or one a channel.
Refusal read_channel_sums(const StepRequest& request, const graph::QuantizedChain& chain,
                          std::vector<double> factors, int64_t rank, int64_t axis, bool stages,
                          ChannelSums& sums);

}  // namespace hone::engine
