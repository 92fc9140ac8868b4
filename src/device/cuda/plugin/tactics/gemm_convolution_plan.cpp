// See gemm_convolution_plan.hpp.
#include "device/cuda/plugin/tactics/gemm_convolution_plan.hpp"

#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm.hpp"

namespace hone::device::cuda {

using engine::StepRequest;

Refusal make_gemm_plan(const StepRequest& request, GemmPlan& plan) {
  if (!is_float_type(request.storage())) return "no floats";
  if (Refusal reason = read_convolution_request(request, plan.request)) return reason;
  const graph::Convolution& geometry = plan.request.geometry;
  if (geometry.group != 1) return "it has groups";
  if (plan.request.post_ops.size() > kMaxEpilogueSteps) return "too many post-ops";
  // The kernel reads the bias before the previous kernel has ended.
  if (plan.request.has_bias && !request.graph.value(request.node.inputs[2]).constant)
    return "the bias is not constant";
  constexpr int64_t kMostElements = int64_t{1} << 31;
  if (tensor::element_count(request.inputs[0].shape) >= kMostElements ||
      tensor::element_count(request.outputs[0].shape) >= kMostElements)
    return "an image of 2^31 elements or more";
  ConvProblem& p = plan.problem;
  p = conv_problem(geometry, element_of(request));
  const int multiple = vector_elements(p.element);
  if (p.channels % multiple != 0) {
    plan.stem = stem_layout(p);
    if (plan.stem) {
      p = plan.stem->problem;
    } else if (p.channels < multiple) {
      plan.image_channels = p.channels;
      p.channels = multiple;
    } else {
      return fmt::format("{} input channels, no multiple of {}", p.channels, multiple);
    }
  }
  return conv_refusal(p);
}

void bind_operands(const ConvolutionRequest& request, std::span<const void* const> inputs,
                   std::span<void* const> outputs, const LaunchOptions& options, ConvArgs& args) {
  args.x = inputs[0];
  args.bias = request.has_bias ? static_cast<const float*>(inputs[2]) : nullptr;
  args.y = outputs[0];
  args.next_waits = options.next_waits;
  bind_steps(request.post_ops, inputs, args);
}

}  // namespace hone::device::cuda
