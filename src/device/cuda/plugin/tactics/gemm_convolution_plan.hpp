// A convolution in the form that hone's implicit GEMM kernels take.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "device/cuda/plugin/tactics/convolution_request.hpp"
#include "device/cuda/regions/stem/plugin/kernels/stem.hpp"

namespace hone::device::cuda {

struct GemmPlan {
  ConvolutionRequest request;
  ConvProblem problem;
  /// Images with few channels are padded, and the problem
  /// sees them so. Kernels for 2-byte elements pad them, ...
  std::optional<StemLayout> stem;
  /// ... others need a reorder to this number of channels; 0 if nothing is padded.
  int image_channels = 0;
};

/// Returns an empty refusal if the plan is filled in.
Refusal make_gemm_plan(const engine::StepRequest& request, GemmPlan& plan);

/// Sets the operands of a launch.
void bind_operands(const ConvolutionRequest& request, std::span<const void* const> inputs,
                   std::span<void* const> outputs, const LaunchOptions& options, ConvArgs& args);

}  // namespace hone::device::cuda
