// The warpgroup GEMM for any epilogue and for depths split over a cluster: one block makes one tile of y, or
// its part of the depth of it. Sums go through shared memory as floats.
#pragma once

#include "device/cuda/plugin/kernels/implicit_gemm_epilogue.cuh"
#include "device/cuda/plugin/kernels/kernel_stamp.cuh"
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

/// Sends every row's sums to the block of the cluster that finishes it: [parts][kM / parts][kN + kStagePad].
/// Nobody has to fetch them, and no block has to wait for others to have read its own.
template <class T, class TileT>
__device__ __forceinline__ void send_rows(const TileParams& p, const WarpgroupProduct<T, TileT>& product,
                                          int part, uint32_t receive) {
  constexpr int kPitch = (TileT::kN + kStagePad) * 4;
  const int rows = TileT::kM / p.split_k;
#pragma unroll
  for (int i = 0; i < TileT::kFragments; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = product.first_row() + i * 64 + half * 8;
      const int owner = row / rows;
      const uint32_t local = receive + (part * rows + row - owner * rows) * kPitch + threadIdx.x % 4 * 8;
      const uint32_t to = ptx::address_in_block(local, owner);
#pragma unroll
      for (int j = 0; j < TileT::kN / 8; ++j) {
        const float* const sums = product.sums[i] + 4 * j + 2 * half;
        ptx::store_remote(to + j * 32, make_float2(sums[0], sums[1]));
      }
    }
  }
}

/// Adds up what the blocks of the cluster have sent, in their order, and finishes it.
template <class T, class Block>
__device__ __forceinline__ void finish_received(const TileParams& p, const BlockPlace& place,
                                                const float* received, const EpilogueMemory& memory) {
  constexpr int kPitch = Block::kN + kStagePad;
  const TileShare share = share_of<Block>(p, place);
  const int part_floats = Block::kM / p.split_k * kPitch;
  store_runs<T, Block::kN, Block::kThreads>(
      p.epilogue, share, memory.bias, memory.prefetched, [&](int run, float(&values)[8]) {
        const int local = run - share.first;
        const float* const from = received + local / (Block::kN / 8) * kPitch + local % (Block::kN / 8) * 8;
#pragma unroll 4
        for (int part = 0; part < p.split_k; ++part) {
          add4(values, 0, *reinterpret_cast<const float4*>(from + part * part_floats));
          add4(values, 4, *reinterpret_cast<const float4*>(from + part * part_floats + 4));
        }
      });
}

/// As store_tile() and others of the epilogue see a tile: with the warp that copies.
template <class TileT>
struct WithCopier : TileT {
  static constexpr int kThreads = TileT::kGroups * 128 + 32;
  static_assert(TileT::kN <= kThreads);
};

template <class T, class TileT>
__global__ void __launch_bounds__(WithCopier<TileT>::kThreads)
    warpgroup_gemm(const __grid_constant__ WarpgroupParams p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  using Block = WithCopier<TileT>;
  extern __shared__ __align__(1024) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  if (p.cluster) ptx::arrive_cluster();  // this block's memory can be written to
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
  if (p.cluster) {
    unsigned char* const receive = memory + p.stages * TileT::kStageBytes;
    ptx::wait_cluster();
    if (!copies) send_rows(p, product, place.part, ptx::shared_address(receive));
    ptx::sync_cluster();
    finish_received<T, Block>(p, place, reinterpret_cast<const float*>(receive), {nullptr, bias, prefetched});
    return;
  }
  __syncthreads();
  if (!copies) stage_sums(product, staged);
  __syncthreads();
  store_tile<T, Block>(p, place, {staged, bias, prefetched});
}

}  // namespace hone::device::cuda
