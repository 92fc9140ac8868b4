// The sum of two convolutions by warpgroup GEMM: one product, whose depth is that of the first convolution
// followed by that of the second. The end of a residual block with a projected shortcut is such a sum.
#pragma once

#include <string>
#include <vector>

#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm.hpp"

namespace hone::device::cuda {

/// Two convolutions whose results have the same shape and element type.
struct ConvSum {
  ConvProblem first;
  ConvProblem second;
};

/// Operands of the first convolution, the sum of both
/// biases, the result, and at most bounds after the sum.
struct ConvSumArgs : ConvArgs {
  const void* second_x = nullptr;
  const void* second_w = nullptr;
};

/// The reason why the sum cannot run in that configuration on that device; empty if it can.
Refusal warpgroup_sum_refusal(const ConvSum& sum, const WarpgroupConfig& config,
                              const DeviceProperties& device);

/// The valid configurations, best guess first, at most `limit`.
std::vector<WarpgroupConfig> warpgroup_sum_configs(const ConvSum& sum, const DeviceProperties& device,
                                                   size_t limit = 16);

/// Enqueues the sum; `pdl` and errors are those of launch_warpgroup(). Steps other than bounds give
/// cudaErrorInvalidValue.
cudaError_t launch_warpgroup_sum(const ConvSum& sum, const WarpgroupConfig& config, const ConvSumArgs& args,
                                 const LaunchOptions& options);

/// Launches the kernel as often as `images` images need, each time for at most the batch of the sum, because
/// a launch is limited to 2^30 elements.
cudaError_t launch_warpgroup_sums(const ConvSum& sum, int images, const WarpgroupConfig& config,
                                  const ConvSumArgs& args, const LaunchOptions& options);

}  // namespace hone::device::cuda
