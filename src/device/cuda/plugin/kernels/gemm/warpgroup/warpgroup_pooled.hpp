// A convolution and the global average pool after it by warpgroup GEMM, in one kernel: a network's last
// convolution, whose images are small. Half and bfloat16.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm.hpp"

namespace hone::device::cuda {

/// Why no pooled kernel can do the steps; empty when one can.
Refusal warpgroup_pooled_steps_refusal(const ConvArgs& args);

/// Why the problem, pooled, cannot run so on that device; empty when it can. Images have 64 pixels at most.
Refusal warpgroup_pooled_refusal(const ConvProblem& problem, const WarpgroupConfig& config,
                                 const DeviceProperties& device);

/// The configurations that are valid, best guess first.
std::vector<WarpgroupConfig> warpgroup_pooled_configs(const ConvProblem& problem,
                                                      const DeviceProperties& device);

/// Enqueues both: args.y are the means of each image [batch][filters], in float over results that are rounded
/// to elements, always added in the same order. `pdl` and errors as launch_warpgroup(). Steps that are
/// refused give cudaErrorInvalidValue.
cudaError_t launch_warpgroup_pooled(const ConvProblem& problem, const WarpgroupConfig& config,
                                    const ConvArgs& args, const LaunchOptions& options);

}  // namespace hone::device::cuda
