// The input and output of a Pad, as pad() takes them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/layers/movement.hpp"
#include "engine/kernel.hpp"

namespace hone::device::cuda {

/// Sizes in the order of the memory.
struct NodePads {
  /// Why there are none; empty when there are.
  Refusal refusal;
  PadMode mode = PadMode::kConstant;
  std::vector<int64_t> sizes;
  /// Elements before the input's first; negative where it is cropped.
  std::vector<int64_t> begin;
  std::vector<int64_t> output;
  /// The bytes of one element.
  std::vector<std::byte> value;
};

/// Pads of elements of this type that lie in this layout, input and output alike.
NodePads node_pads(const engine::StepRequest& request, tensor::DType dtype, engine::Layout layout);

}  // namespace hone::device::cuda
