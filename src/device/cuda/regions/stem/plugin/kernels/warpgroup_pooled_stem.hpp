// The kernel of pooled stems, one of the ways of stem_gemm.hpp. Internal.
#pragma once

#include <cuda_runtime_api.h>

#include "device/cuda/regions/stem/plugin/kernels/stem_gemm.hpp"

namespace hone::device::cuda {

Refusal warpgroup_pooled_stem_refusal(const StemLayout& layout, const StemConfig& config,
                                      const DeviceProperties& device);
/// `next`: null where no convolution follows.
cudaError_t launch_warpgroup_pooled_stem(const StemLayout& layout, const StemConfig& config,
                                         const ConvArgs& args, const StemNext* next,
                                         const LaunchOptions& options);

}  // namespace hone::device::cuda
