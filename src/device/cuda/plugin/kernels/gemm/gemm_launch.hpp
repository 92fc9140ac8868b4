// How GEMM kernels are launched, and how many of their blocks a GPU holds.
#pragma once

#include <cstdint>

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

struct GemmLaunch {
  const void* function = nullptr;
  int64_t blocks = 0;
  int threads = 0;
  int cluster = 1;  ///< blocks of a cluster
  int64_t shared_bytes = 0;
};

/// Blocks of this launch that the whole device holds at once.
cudaError_t resident_blocks(const GemmLaunch& launch, const DeviceProperties& device, int64_t& blocks);

/// `params` points to the kernel's first parameter; the second is the place of its stamp.
cudaError_t launch_gemm(const GemmLaunch& launch, const void* params, const LaunchOptions& options);

/// Launches a kernel whose blocks take one tile of pixels after another, `tiles_m` of them, for one of
/// `tiles_n` tiles of filters: all blocks run at once, the same number for every tile of filters.
cudaError_t launch_resident_tiles(GemmLaunch launch, int64_t tiles_m, int64_t tiles_n, const void* params,
                                  const LaunchOptions& options);

}  // namespace hone::device::cuda
