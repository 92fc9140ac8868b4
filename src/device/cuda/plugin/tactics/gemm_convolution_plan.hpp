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
  /// An image with too few channels is padded, and `problem` describes the padded image.
  /// With 2-byte elements, it is usually padded to this layout.
  std::optional<StemLayout> stem;
  /// The image's own number of channels if a reorder pads it instead; otherwise 0.
  int image_channels = 0;
};

/// Returns an empty refusal if the plan is filled in.
Refusal make_gemm_plan(const engine::StepRequest& request, GemmPlan& plan);

/// Sets the operands of a launch.
void bind_operands(const ConvolutionRequest& request, std::span<const void* const> inputs,
                   std::span<void* const> outputs, const LaunchOptions& options, ConvArgs& args);

}  // namespace hone::device::cuda
