// Launches GEMM kernels, and counts their blocks that a GPU holds at once.
#pragma once

#include <cstdint>

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

struct GemmLaunch {
  const void* function = nullptr;
  int64_t blocks = 0;
  int threads = 0;
  int cluster = 1;  ///< blocks in a cluster
  int64_t shared_bytes = 0;
};

/// Sets `blocks` to the number of blocks of this launch that the whole device holds at once.
cudaError_t resident_blocks(const GemmLaunch& launch, const DeviceProperties& device, int64_t& blocks);

/// `params` points to the kernel's first parameter; the second is the address of its stamp.
cudaError_t launch_gemm(const GemmLaunch& launch, const void* params, const LaunchOptions& options);

/// Launches a kernel in which each block has one of `tiles_n` tiles of filters and loops over tiles of
/// pixels, of which there are `tiles_m`. All blocks run at once, the same number for every tile of filters.
cudaError_t launch_resident_tiles(GemmLaunch launch, int64_t tiles_m, int64_t tiles_n, const void* params,
                                  const LaunchOptions& options);

}  // namespace hone::device::cuda
