// A convolution as implicit GEMM kernels of ours take it.
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
  /// For images of few channels, which the problem then sees padded: by kernels for two bytes an element, ...
  std::optional<StemLayout> stem;
  /// ... by a reorder otherwise; 0 where nothing is padded.
  int image_channels = 0;
};

/// Empty when the plan is filled in.
Refusal make_gemm_plan(const engine::StepRequest& request, GemmPlan& plan);

/// Fills in the operands of a launch.
void bind_operands(const ConvolutionRequest& request, std::span<const void* const> inputs,
                   std::span<void* const> outputs, const LaunchOptions& options, ConvArgs& args);

}  // namespace hone::device::cuda
