// Launches kernels, and has the two instructions that make programmatic dependent launch correct.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/common/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/common/launch_options.hpp"
#include "device/cuda/plugin/kernels/common/ptx.cuh"

namespace hone::device::cuda {

constexpr int kThreads = 256;

/// The first call of kernels that have nothing to prepare. It waits until the earlier kernels have ended and
/// their writes are visible; without the launch attribute it does nothing. It does not let the next kernel
/// start early, since that may be a library's, which does not always wait.
__device__ __forceinline__ void begin_kernel() { ptx::wait_for_previous_kernel(); }

/// The first call of a kernel that lets the next one start early if that is one of ours and waits itself.
__device__ __forceinline__ void begin_kernel(bool next_waits) {
  if (next_waits) ptx::allow_next_kernel();
  begin_kernel();
}

/// The kernel's parameters are the arguments, followed by the address of its stamp.
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, const LaunchOptions& options,
                   Arguments&&... arguments) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return cudaSuccess;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = options.stream;
  config.attrs = &attribute;
  config.numAttrs = options.pdl ? 1 : 0;
  const auto run = [&](Parameters... parameters) {
    void* places[] = {&parameters...};
    return cudaLaunchKernelExC(&config, kernel_address(kernel), places);
  };
  return run(std::forward<Arguments>(arguments)..., next_stamp(options));
}

/// Number of blocks that gives each of `units` a thread (or a block, with threads = 1). Kernels loop in steps
/// of the grid's size, so that the limit on that size does no harm.
inline dim3 grid_for(int64_t units, int64_t threads = kThreads) {
  return dim3(static_cast<unsigned>(std::min<int64_t>((units + threads - 1) / threads, 0x7fffffff)));
}

}  // namespace hone::device::cuda
