// A Conv or FusedConv in the form that the tactics of this device use.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "device/cuda/plugin/kernels/common/conv_problem.hpp"
#include "device/cuda/plugin/kernels/common/epilogue.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "graph/convolution_geometry.hpp"

namespace hone::device::cuda {

struct ConvolutionRequest {
  graph::Convolution geometry;
  std::vector<PostOpRequest> post_ops;
  bool has_bias = false;
  /// The arrangement of inputs and outputs: a channels-last image of the compute type.
  engine::TensorDesc source;
  engine::TensorDesc result;
};

/// Returns an empty refusal if `out` is filled in; otherwise the reason why no tactic here takes the step.
Refusal read_convolution_request(const engine::StepRequest& request, ConvolutionRequest& out);

/// The element type that tensor cores multiply.
Element element_of(const engine::StepRequest& request);

/// A two-dimensional convolution without groups in the form that hone's tensor-core kernels take.
ConvProblem conv_problem(const graph::Convolution& geometry, Element element);

/// The arguments that all launches share: at most kMaxEpilogueSteps post-ops, without their operands.
ConvArgs conv_args(const std::vector<PostOpRequest>& post_ops);
ConvArgs conv_args(const ConvolutionRequest& request);

/// Sets the operands of binary post-ops from the step's inputs.
void bind_steps(const std::vector<PostOpRequest>& post_ops, std::span<const void* const> inputs,
                ConvArgs& args);

/// Returns an offer with the arrangement of the convolution's operands: the source; the bias as floats; full
/// operands in the layout of the result; operands for each image and channel, or for each channel, in plain
/// layout with type `operand_type`.
engine::Offer make_convolution_offer(const engine::StepRequest& request,
                                     const ConvolutionRequest& convolution, tensor::DType operand_type);

/// At most Epilogue::kLimit post-ops, with their operands taken from the step's inputs.
Epilogue make_epilogue(const ConvolutionRequest& request, std::span<const void* const> inputs);

}  // namespace hone::device::cuda
