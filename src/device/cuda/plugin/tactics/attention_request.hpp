// Attention in the form that its kernels take, and the indices of its operands among the inputs of a step.
#pragma once

#include <span>
#include <vector>

#include "device/cuda/plugin/kernels/layers/attention.hpp"
#include "engine/kernel.hpp"

namespace hone::device::cuda {

struct AttentionRequest {
  AttentionSize size;
  /// Indices among the step's inputs.
  size_t q = 0;
  size_t k = 0;
  size_t v = 0;
  std::vector<size_t> masks;

  AttentionArgs args(std::span<const void* const> inputs, void* result) const;
};

/// Returns an empty refusal if the request is filled in and `inputs` contain the arrangement of the operands.
/// `body` is that of an attention region, with types; `positions` maps its inputs to those of the step.
Refusal read_attention_request(const engine::StepRequest& request, const graph::Graph& body,
                               const std::vector<size_t>& positions, AttentionRequest& out,
                               std::vector<engine::TensorDesc>& inputs);

}  // namespace hone::device::cuda
