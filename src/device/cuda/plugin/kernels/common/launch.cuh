// Launching a kernel, and the two instructions that make programmatic dependent launch correct.
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

/// First call of kernels that have nothing to prepare: waits until the kernels before it have ended and
/// their writes are visible; a no-op without the launch attribute. The next kernel is not let in early: it
/// may be one of a library, which need not wait as ours do.
__device__ __forceinline__ void begin_kernel() { ptx::wait_for_previous_kernel(); }

/// Begins a kernel after which another of ours may come early, when that one waits itself.
__device__ __forceinline__ void begin_kernel(bool next_waits) {
  if (next_waits) ptx::allow_next_kernel();
  begin_kernel();
}

/// The kernel's parameters are the arguments and, after them, the place of its stamp.
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

/// Blocks so that `units` of work get a thread (or a block, with threads = 1) each. Kernels step by the size
/// of the grid, so that the limit on it costs nothing.
inline dim3 grid_for(int64_t units, int64_t threads = kThreads) {
  return dim3(static_cast<unsigned>(std::min<int64_t>((units + threads - 1) / threads, 0x7fffffff)));
}

}  // namespace hone::device::cuda
