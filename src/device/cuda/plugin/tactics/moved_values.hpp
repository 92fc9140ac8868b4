// The element type and layout in which operators that only move elements store their values.
#pragma once

#include <algorithm>

#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {

/// Element type of output 0 between steps.
inline tensor::DType moved_type(const engine::StepRequest& request) {
  const tensor::DType declared = request.outputs[0].dtype;
  return declared == tensor::DType::kFloat32 ? request.storage() : declared;
}

/// The layout for images if an input is channels-last and reorders can convert its type; otherwise plain,
/// because tokens may also have four dimensions.
inline engine::Layout moved_layout(const engine::StepRequest& request, tensor::DType dtype) {
  const bool images = std::any_of(request.inputs.begin(), request.inputs.end(), [](const auto& input) {
    return input.layout == engine::Layout::kChannelsLast;
  });
  return images && is_float_type(dtype) ? engine::layout_for_shape(request.layout, request.outputs[0].shape)
                                        : engine::Layout::kPlain;
}

}  // namespace hone::device::cuda
