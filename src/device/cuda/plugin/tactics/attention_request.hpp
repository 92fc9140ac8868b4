// Attention as its kernels take it, and where its operands are among the inputs of a step.
#pragma once

#include <span>
#include <vector>

#include "device/cuda/plugin/kernels/layers/attention.hpp"
#include "engine/kernel.hpp"

namespace hone::device::cuda {

struct AttentionRequest {
  AttentionSize size;
  /// Positions among the step's inputs.
  size_t q = 0;
  size_t k = 0;
  size_t v = 0;
  std::vector<size_t> masks;

  AttentionArgs args(std::span<const void* const> inputs, void* result) const;
};

/// Empty when the request is filled in, and `inputs` say how the operands must lie. `body`: that of a region
/// of attention, with types; `positions`: which input of the step each of its inputs is.
Refusal read_attention_request(const engine::StepRequest& request, const graph::Graph& body,
                               const std::vector<size_t>& positions, AttentionRequest& out,
                               std::vector<engine::TensorDesc>& inputs);

}  // namespace hone::device::cuda
