// The cost of a dependent step before it does any work: chains of kernels that only hand over, inside a
// graph.
#pragma once

#include <cstdio>
#include <tuple>

#include "device/cuda/implicit_gemm_reference.cuh"
#include "device/cuda/plugin/kernels/common/ptx.cuh"

namespace hone::device::cuda::check {

enum class Handover { kCompletion, kEarlyLaunch, kFlags };

/// One link: waits for the one before, as `handover` says, and hands over to the next. With flags a block
/// counts itself in when it is done, and the next link's blocks look at the count instead of waiting for the
/// grid.
__global__ void chain_link(Handover handover, unsigned* counters, int link) {
  if (handover != Handover::kCompletion) ptx::allow_next_kernel();
  if (handover != Handover::kFlags) {
    ptx::wait_for_previous_kernel();
    return;
  }
  if (threadIdx.x == 0 && link > 0) {
    unsigned seen = 0;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counters + link - 1) : "memory");
    } while (seen < gridDim.x);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counters + link) : "memory");
  }
}

/// Microseconds of one link, for 132 blocks of 256 threads.
template <class Microseconds>
void bench_launch_gaps(cudaStream_t stream, const Microseconds& microseconds) {
  constexpr int kLinks = 56;
  constexpr unsigned kBlocks = 132;
  const Buffer<unsigned> counters(kLinks);
  for (const auto& [handover, pdl, name] :
       {std::tuple{Handover::kCompletion, false, "ordinary launches"},
        std::tuple{Handover::kCompletion, true, "programmatic, at completion"},
        std::tuple{Handover::kEarlyLaunch, true, "programmatic, launched early"},
        std::tuple{Handover::kFlags, true, "flags in global memory"}}) {
    const double time = microseconds(stream, kLinks, [&](int link) {
      if (link == 0 && handover == Handover::kFlags) {
        const cudaError_t error = cudaMemsetAsync(counters.get(), 0, kLinks * sizeof(unsigned), stream);
        if (error != cudaSuccess) return error;
      }
      cudaLaunchAttribute attribute{};
      attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attribute.val.programmaticStreamSerializationAllowed = 1;
      cudaLaunchConfig_t config{};
      config.gridDim = dim3(kBlocks);
      config.blockDim = dim3(256);
      config.stream = stream;
      config.attrs = &attribute;
      config.numAttrs = pdl && link > 0 ? 1 : 0;
      return cudaLaunchKernelEx(&config, chain_link, handover, counters.get(), link);
    });
    std::printf("empty step, %-30s %6.2f us\n", name, time);
  }
}

}  // namespace hone::device::cuda::check
