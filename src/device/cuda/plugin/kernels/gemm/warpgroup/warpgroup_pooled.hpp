// A convolution and the following global average pool in one kernel, by warpgroup GEMM. It is for a network's
// last convolution, whose images are small. Half and bfloat16.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm.hpp"

namespace hone::device::cuda {

/// The reason why no pooled kernel can apply the steps; empty if one can.
Refusal warpgroup_pooled_steps_refusal(const ConvArgs& args);

/// The reason why the pooled problem cannot run in that configuration on that device; empty if it can. Images
/// can have at most 64 pixels.
Refusal warpgroup_pooled_refusal(const ConvProblem& problem, const WarpgroupConfig& config,
                                 const DeviceProperties& device);

/// The valid configurations, best guess first.
std::vector<WarpgroupConfig> warpgroup_pooled_configs(const ConvProblem& problem,
                                                      const DeviceProperties& device);

/// Enqueues both. args.y receives the means of each image, [batch][filters], computed in float from results
/// that are rounded to elements first, and always added in the same order. `pdl` and errors are those of
/// launch_warpgroup(). Steps that are refused give cudaErrorInvalidValue.
cudaError_t launch_warpgroup_pooled(const ConvProblem& problem, const WarpgroupConfig& config,
                                    const ConvArgs& args, const LaunchOptions& options);

}  // namespace hone::device::cuda
