// Regions of quantized numbers (graph/quantized_chain.hpp) as kernels of this device take them.
#pragma once

#include <optional>
#include <vector>

#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm.hpp"
#include "engine/kernel.hpp"
#include "graph/quantized_chain.hpp"

namespace hone::device::cuda {

/// One scale and zero point for all of a tensor.
struct ByteScale {
  tensor::DType dtype = tensor::DType::kInt8;
  float scale = 1;
  int32_t zero_point = 0;
};

bool is_byte(tensor::DType dtype);
const tensor::Tensor* constant_input(const engine::StepRequest& request, size_t input);

/// Of an operand of bytes, and of a rounding; nullopt where they are computed, several, or of other integers.
std::optional<ByteScale> byte_scale(const engine::StepRequest& request,
                                    const graph::QuantizedOperand& operand);
std::optional<ByteScale> byte_scale(const engine::StepRequest& request, const graph::QuantizedStage& stage);

/// Puts all constants of the chain but the product's weights into the offer, plain, so that engines keep
/// them.
void keep_constants(const engine::StepRequest& request, const graph::QuantizedChain& chain,
                    engine::Offer& offer);

/// What follows the sums of a product.
struct ByteStages {
  ByteFunction function = ByteFunction::kBounds;
  ByteFinish finish;
  std::vector<float> scales;  ///< one a channel
  std::vector<float> bias;
  /// The input that is added: bytes where the result is, floats otherwise.
  std::optional<size_t> operand;
};

/// Reads bias and stages of a product whose sums stand for sum * scales[c] (one for each of the channels
/// along `axis` of the result); empty when `stages` is filled in.
Refusal read_byte_stages(const engine::StepRequest& request, const graph::QuantizedChain& chain,
                         std::vector<double> scales, int64_t axis, ByteStages& stages);

}  // namespace hone::device::cuda
