// The warpgroup GEMM for any epilogue and for depths split over a cluster: one block makes one tile of y, or
// its part of the depth of it. Sums go through shared memory as floats.
#pragma once

#include "device/cuda/plugin/kernels/implicit_gemm_epilogue.cuh"
#include "device/cuda/plugin/kernels/warpgroup_gemm_stages.cuh"

namespace hone::device::cuda {

template <class T, class TileT>
__device__ __forceinline__ void stage_sums(const WarpgroupProduct<T, TileT>& product, float* staged) {
  constexpr int kPitch = TileT::kN + kStagePad;
  float* const corner = staged + product.first_row() * kPitch + static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
  for (int i = 0; i < TileT::kFragments; ++i) {
#pragma unroll
    for (int j = 0; j < TileT::kN / 8; ++j) {
      const float* const sums = product.sums[i] + 4 * j;
      float* const to = corner + i * 64 * kPitch + j * 8;
      *reinterpret_cast<float2*>(to) = make_float2(sums[0], sums[1]);
      *reinterpret_cast<float2*>(to + 8 * kPitch) = make_float2(sums[2], sums[3]);
    }
  }
}

/// As store_tile() and others of the epilogue see a tile: with the warp that copies.
template <class TileT>
struct WithCopier : TileT {
  static constexpr int kThreads = TileT::kGroups * 128 + 32;
  static_assert(TileT::kN <= kThreads);
};

template <class T, class TileT>
__global__ void __launch_bounds__(WithCopier<TileT>::kThreads)
    warpgroup_gemm(const __grid_constant__ WarpgroupParams p) {
  using Block = WithCopier<TileT>;
  extern __shared__ __align__(1024) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  const BlockPlace place(p);
  const auto [first, count] = DepthPart(p, place.part);
  auto* const staged = reinterpret_cast<float*>(memory);
  auto* const bias = reinterpret_cast<float*>(memory + p.staging_bytes);
  const StageRing ring{ptx::shared_address(memory), ptx::shared_address(bias + TileT::kN), p.stages};
  auto* const prefetched = reinterpret_cast<uint4*>(bias + TileT::kN) + p.stages;  // behind the barriers

  constexpr int kCopier = TileT::kGroups * 128;
  const bool copies = static_cast<int>(threadIdx.x) >= kCopier;
  if (static_cast<int>(threadIdx.x) == kCopier) {
    ptx::prefetch_map(p.filters);
    ptx::prefetch_map(p.windows);
    ring.init(TileT::kGroups * 4);
    ptx::fence_barriers();
  }
  load_bias<TileT::kN>(p.epilogue, place.tile_n * TileT::kN, p.anywhere, bias);
  __syncthreads();
  if (static_cast<int>(threadIdx.x) == kCopier) {
    StageCopies<TileT> stages(p, place.tile_m, place.tile_n, first);
    const int ahead = min(p.stages, count);
    stages.start_ring(p, ring, first, ahead);
    RingPlace next{ahead == p.stages ? 0 : ahead, ahead == p.stages ? 1U : 0U};
    for (int s = ahead; s < count; ++s) stages.start_stage(p, ring, next);
  }
  __syncwarp();
  ptx::wait_for_previous_kernel();
  if (p.epilogue.prefetched != nullptr)
    prefetch_operand<T, TileT::kN, Block::kThreads>(p.epilogue, share_of<Block>(p, place), prefetched);
  ptx::commit_copies();
  WarpgroupProduct<T, TileT> product{};
  RingPlace at;
  if (!copies) product.run(ring, at, count);
  ptx::wait_copies<0>();
  __syncthreads();
  if (!copies) stage_sums(product, staged);
  finish_block<T, Block>(p, place, EpilogueMemory{staged, bias, prefetched});
}

}  // namespace hone::device::cuda
