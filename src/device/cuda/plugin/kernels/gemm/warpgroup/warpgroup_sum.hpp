// The sum of two convolutions by warpgroup GEMM: one product, whose depth is that of the first convolution
// and then that of the second. The end of a residual block whose shortcut is projected is such a sum.
#pragma once

#include <string>
#include <vector>

#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm.hpp"

namespace hone::device::cuda {

/// Their results have the same shape and elements.
struct ConvSum {
  ConvProblem first;
  ConvProblem second;
};

/// Operands of the first convolution, the bias of both together, the result, and at most bounds after the
/// sum.
struct ConvSumArgs : ConvArgs {
  const void* second_x = nullptr;
  const void* second_w = nullptr;
};

/// Why the sum cannot run so on that device; empty when it can.
Refusal warpgroup_sum_refusal(const ConvSum& sum, const WarpgroupConfig& config,
                              const DeviceProperties& device);

/// The configurations that are valid, best guess first, at most `limit`.
std::vector<WarpgroupConfig> warpgroup_sum_configs(const ConvSum& sum, const DeviceProperties& device,
                                                   size_t limit = 16);

/// Enqueues the sum; `pdl` and errors as launch_warpgroup(). Steps other than bounds give
/// cudaErrorInvalidValue.
cudaError_t launch_warpgroup_sum(const ConvSum& sum, const WarpgroupConfig& config, const ConvSumArgs& args,
                                 const LaunchOptions& options);

/// Launches for `images` images, each launch with at most the number of images of the sum: a launch takes
/// 2^30 elements.
cudaError_t launch_warpgroup_sums(const ConvSum& sum, int images, const WarpgroupConfig& config,
                                  const ConvSumArgs& args, const LaunchOptions& options);

}  // namespace hone::device::cuda
