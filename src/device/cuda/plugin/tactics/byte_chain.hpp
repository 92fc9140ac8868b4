// Regions of quantized numbers (graph/quantized_chain.hpp) as kernels of this device take them.
#pragma once

#include <optional>
#include <vector>

#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm.hpp"
#include "engine/quantized_operands.hpp"

namespace hone::device::cuda {

using engine::byte_scale;
using engine::ByteScale;
using engine::constant_input;
using engine::keep_constants;
using graph::is_byte;

/// The operations after the sums of a product.
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
