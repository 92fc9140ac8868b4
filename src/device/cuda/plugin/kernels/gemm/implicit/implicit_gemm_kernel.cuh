// The implicit GEMM: cp.async fills a ring of stages in shared memory, which are multiplied one by one. One
// block computes one tile of y, or its part of the tile's depth.
#pragma once

#include "device/cuda/plugin/kernels/common/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_epilogue.cuh"
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_product.cuh"

namespace hone::device::cuda {

/// Waits until the oldest pending stage has arrived: the
/// newer ones, at most `stages` - 2, may still be under way.
__device__ __forceinline__ void wait_for_stage(int stages) {
  switch (stages) {
    case 3: ptx::wait_copies<1>(); break;
    case 4: ptx::wait_copies<2>(); break;
    case 5: ptx::wait_copies<3>(); break;
    default: ptx::wait_copies<4>(); break;
  }
}

template <class T, class TileT, template <class, class> class Pixels>
__global__ void __launch_bounds__(TileT::kThreads)
    implicit_gemm(const __grid_constant__ GemmParams p, KernelStamp* stamp) {
  RunningKernel running(stamp);
  extern __shared__ __align__(128) unsigned char memory[];
  const int stages = p.stages;
  const BlockPlace place(p);
  const auto [first, count] = DepthPart(p, place.part);

  auto* const bias = reinterpret_cast<float*>(memory + p.staging_bytes);
  auto* const prefetched = reinterpret_cast<uint4*>(bias + TileT::kN);
  const uint32_t ring = ptx::shared_address(memory);
  const StageLoader<T, TileT> loader(p, place.tile_n);

  // Weights do not depend on the previous kernel.
  load_bias<TileT::kN>(p.epilogue, place.tile_n * TileT::kN, p.w, bias);
  for (int s = 0; s < stages - 1 && s < count; ++s) {
    loader.load_filters(p, first + s, ring + s * TileT::kStageBytes);
  }
  const Pixels<T, TileT> pixels(p, loader, place.tile_m);
  ptx::wait_for_previous_kernel();
  if (p.next_waits) ptx::allow_next_kernel();
  for (int s = 0; s < stages - 1; ++s) {
    if (s < count) pixels.load(p, loader, first + s, ring + s * TileT::kStageBytes);
    if (s == stages - 2 && p.epilogue.prefetched != nullptr) {
      prefetch_operand<T, TileT::kN, TileT::kThreads>(p.epilogue, share_of<TileT>(p, place), prefetched);
    }
    ptx::commit_copies();
  }

  typename ProductOf<T, TileT>::Type product;
  uint32_t current = ring;                                   // read in this iteration
  uint32_t next = ring + (stages - 1) * TileT::kStageBytes;  // filled in this iteration
  const uint32_t end = ring + stages * TileT::kStageBytes;
  for (int s = 0; s < count; ++s) {
    wait_for_stage(stages);
    __syncthreads();  // the stage has arrived for all threads, and none reads the one that is filled now
    const int ahead = s + stages - 1;
    if (ahead < count) {
      pixels.load(p, loader, first + ahead, next);
      loader.load_filters(p, first + ahead, next);
    }
    ptx::commit_copies();
    product.add_stage(current);
    current = current + TileT::kStageBytes == end ? ring : current + TileT::kStageBytes;
    next = next + TileT::kStageBytes == end ? ring : next + TileT::kStageBytes;
  }
  running.finishing();
  ptx::wait_copies<0>();
  __syncthreads();
  auto* const staged = reinterpret_cast<float*>(memory);
  product.store(staged);
  finish_block<T, TileT>(p, place, EpilogueMemory{staged, bias, prefetched}, &running);
}

}  // namespace hone::device::cuda
