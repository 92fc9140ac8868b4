// The stages of a quantized chain as attributes of a oneDNN primitive that multiplies bytes.
#pragma once

#include <vector>

#include "device/cpu/onednn.hpp"
#include "device/cpu/quantized/operands.hpp"

namespace hone::device::cpu {

/// Scales of bytes by which a product is made: of its first operand, and of its weights, one or one a
/// channel.
struct ProductScales {
  ByteScale x;
  std::vector<float> weights;
};

/// nullopt where they are computed, or x has several.
std::optional<ProductScales> product_scales(const engine::StepRequest& request,
                                            const graph::QuantizedChain& chain);

/// The steps after the sums of a product: result = post-ops(scales · (sum + bias)), one scale and one bias a
/// channel.
struct ByteEpilogue {
  /// A constant second operand of a post-op.
  struct Constant {
    int argument;
    dnnl::memory::desc desc;
    tensor::Tensor values;
  };

  std::vector<float> scales;
  /// Empty for none.
  std::vector<float> bias;
  dnnl::post_ops ops;
  /// The input that the result starts as; -1 for none.
  int accumulate_input = -1;
  /// The zero point of the result.
  int32_t zero_point = 0;
  std::vector<Constant> constants;
};

/// Fills in the epilogue for all stages and a result of that type whose channels lie along `axis`; says in
/// the offer how second operands have to lie. A refusal where a primitive does not take the stages.
Refusal make_epilogue(const engine::StepRequest& request, const graph::QuantizedChain& chain,
                      const ProductScales& scales, const engine::TensorDesc& result, int64_t axis,
                      engine::Offer& offer, ByteEpilogue& epilogue);

/// The epilogue that gives the sums as numbers in float32, with only the bias.
Refusal make_plain_epilogue(const engine::StepRequest& request, const graph::QuantizedChain& chain,
                            const ProductScales& scales, int64_t channels, ByteEpilogue& epilogue);

}  // namespace hone::device::cpu
