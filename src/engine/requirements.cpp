// See requirements.hpp.
#include "engine/requirements.hpp"

namespace hone::engine {

Refusal only_float32(const StepRequest& request) {
  if (request.outputs[0].dtype != DType::kFloat32) return "only float32 models";
  return {};
}

Refusal only_fp16_and_bf16(const StepRequest& request) {
  if (tensor::dtype_size(request.storage()) != 2) return "only fp16 and bf16";
  return {};
}

Refusal nonempty_input(const StepRequest& request) {
  if (tensor::element_count(request.inputs[0].shape) == 0) return "the input is empty";
  return {};
}

Refusal nonempty_output(const StepRequest& request) {
  if (tensor::element_count(request.outputs[0].shape) == 0) return "the output is empty";
  return {};
}

Refusal one_to_three_axes(const StepRequest& request) {
  const size_t rank = request.inputs[0].shape.size();
  if (rank < 3 || rank > 5) return "only 1-D, 2-D and 3-D windows";
  return {};
}

}  // namespace hone::engine
