// The kernel of stems for warpgroups, one of the ways of stem_gemm.hpp. Internal.
#pragma once

#include <cuda_runtime_api.h>

#include "device/cuda/regions/stem/plugin/kernels/stem_gemm.hpp"

namespace hone::device::cuda {

Refusal warpgroup_stem_refusal(const StemLayout& layout, const StemConfig& config,
                               const DeviceProperties& device);
cudaError_t launch_warpgroup_stem(const StemLayout& layout, const StemConfig& config, const ConvArgs& args,
                                  const LaunchOptions& options);

}  // namespace hone::device::cuda
