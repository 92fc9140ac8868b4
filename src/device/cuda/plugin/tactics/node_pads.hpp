// The input and output of a Pad in the form of pad().
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/layers/movement.hpp"
#include "engine/kernel.hpp"

namespace hone::device::cuda {

/// The arguments of a pad. All lists of sizes are in memory order.
struct NodePads {
  /// The reason why the node cannot run this way; empty if it can.
  Refusal refusal;
  PadMode mode = PadMode::kConstant;
  std::vector<int64_t> sizes;
  /// Number of elements before the input's first one; negative if the input is cropped.
  std::vector<int64_t> begin;
  std::vector<int64_t> output;
  /// The padding value, as the bytes of one element.
  std::vector<std::byte> value;
};

/// The pads for elements of this type, with input and output in this layout.
NodePads node_pads(const engine::StepRequest& request, tensor::DType dtype, engine::Layout layout);

}  // namespace hone::device::cuda
