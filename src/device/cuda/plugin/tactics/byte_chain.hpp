// Regions of quantized numbers (graph/quantized_chain.hpp) in the form that this device's kernels take.
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
  std::vector<float> scales;  ///< one for each channel
  std::vector<float> bias;
  /// The input that is added: bytes if the result is bytes, else floats.
  std::optional<size_t> operand;
};

/// Reads bias and stages of a product whose sums represent sum * scales[c] (one scale for each channel along
/// `axis` of the result). Returns an empty refusal if `stages` is filled in.
Refusal read_byte_stages(const engine::StepRequest& request, const graph::QuantizedChain& chain,
                         std::vector<double> scales, int64_t axis, ByteStages& stages);

}  // namespace hone::device::cuda
