// In which element type and layout operators that move elements without looking at them keep their values.
#pragma once

#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {

/// Element type that output 0 has between steps.
inline tensor::DType moved_type(const engine::StepRequest& request) {
  const tensor::DType declared = request.outputs[0].dtype;
  return declared == tensor::DType::kFloat32 ? request.storage() : declared;
}

/// As images lie when they are of a type that reorders can bring there, plain otherwise.
inline engine::Layout moved_layout(const engine::StepRequest& request, tensor::DType dtype) {
  return is_float_type(dtype) ? engine::layout_for_shape(request.layout, request.outputs[0].shape)
                              : engine::Layout::kPlain;
}

}  // namespace hone::device::cuda
