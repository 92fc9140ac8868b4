// A Conv or FusedConv as the tactics of this device see it.
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
  /// Channels-last image of the compute type, as inputs and outputs lie.
  engine::TensorDesc source;
  engine::TensorDesc result;
};

/// Empty when `out` is filled in; else why no tactic of this device takes the step.
Refusal read_convolution_request(const engine::StepRequest& request, ConvolutionRequest& out);

/// The elements that tensor cores are to multiply.
Element element_of(const engine::StepRequest& request);

/// A convolution of two dimensions, without groups, as our tensor-core kernels take it.
ConvProblem conv_problem(const graph::Convolution& geometry, Element element);

/// The common arguments of all launches: the post-ops, at most kMaxEpilogueSteps, without their operands.
ConvArgs conv_args(const std::vector<PostOpRequest>& post_ops);
ConvArgs conv_args(const ConvolutionRequest& request);

/// Gives the binary ones of those steps their operands among the step's inputs.
void bind_steps(const std::vector<PostOpRequest>& post_ops, std::span<const void* const> inputs,
                ConvArgs& args);

/// An offer with the operands of the convolution arranged: the source, the bias as floats, full operands like
/// the result, operands per image and channel or per channel plain, of type `operand_type`.
engine::Offer make_convolution_offer(const engine::StepRequest& request,
                                     const ConvolutionRequest& convolution, tensor::DType operand_type);

/// The post-ops, at most Epilogue::kLimit, with their operands among the step's inputs.
Epilogue make_epilogue(const ConvolutionRequest& request, std::span<const void* const> inputs);

}  // namespace hone::device::cuda
