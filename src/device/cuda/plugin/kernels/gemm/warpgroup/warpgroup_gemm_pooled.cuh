// The warpgroup GEMM followed by a mean. The rows of a tile are the pixels of one image, and the result is
// their mean for each filter. Blocks stay on their multiprocessor and compute one tile after another.
#pragma once

#include <utility>

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/common/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_finish.cuh"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_pooled_params.hpp"

namespace hone::device::cuda {

/// The values that all roles of a block share.
template <class TileT>
struct PooledBlock {
  static_assert(TileT::kM == kPooledRows && TileT::kGroups == 1 && TileT::kFragments == 1);
  const WarpgroupParams& p;
  StageRing ring;
  float* sums;  ///< [2][4][kN]: of each warp; tiles alternate between the two

  /// Runs `each(image, tile_n)` over this block's tiles.
  template <class Each>
  __device__ __forceinline__ void tiles(const Each& each) const {
    for (int tile = static_cast<int>(blockIdx.x); tile < p.tiles; tile += static_cast<int>(gridDim.x)) {
      const int image = static_cast<int>(p.tiles_n.divide(tile));
      each(image, tile - image * static_cast<int>(p.tiles_n.divisor));
    }
  }
  __device__ __forceinline__ int pixels() const { return static_cast<int>(p.epilogue.pixels.divisor); }
  /// The rows after the image's own belong to the next image or are zeros; they are ignored.
  __device__ __forceinline__ StageCopies<TileT> copies(int image, int tile_n) const {
    return StageCopies<TileT>(p, image * pixels(), tile_n, 0);
  }
  /// The number of stages that fill the empty ring.
  __device__ __forceinline__ int ahead() const { return min(p.stages, p.depth_steps); }
};

/// The role of the warp that copies. Another warp copies the windows of the first stages: if the previous
/// kernel has ended before this block begins, they would otherwise arrive after all filters.
template <class TileT>
__device__ __forceinline__ void pooled_stages(const PooledBlock<TileT>& block) {
  RingPlace place;
  bool started = false;
  block.tiles([&](int image, int tile_n) {
    StageCopies<TileT> stages = block.copies(image, tile_n);
    int first = 0;
    if (!started) {
      started = true;
      first = block.ahead();
      stages.start_ring_filters(block.p, block.ring, first);
      ptx::wait_for_previous_kernel();
      for (int s = 0; s < first; ++s) place.next(block.p.stages);
    }
    for (int s = first; s < block.p.depth_steps; ++s) stages.start_stage(block.p, block.ring, place);
  });
}

template <class TileT>
__device__ __forceinline__ void pooled_first_windows(const PooledBlock<TileT>& block) {
  block.copies(static_cast<int>(block.p.tiles_n.divide(blockIdx.x)), 0)
      .start_ring_windows(block.p, block.ring, block.ahead());
}

/// Loads the operands that are added to a thread's sums, as pairs of channels: for each eight filters, those
/// of its first row and of the row 8 below.
template <class T, class TileT>
__device__ __forceinline__ void load_pairs(const PooledBlock<TileT>& block, int image, int tile_n,
                                           uint32_t (&pairs)[TileT::kN / 4]) {
  const EpilogueParams& p = block.p.epilogue;
  const int row = WarpgroupProduct<T, TileT>::first_row();
  const int channel = tile_n * TileT::kN + static_cast<int>(threadIdx.x) % 4 * 2;
  const size_t first = (static_cast<size_t>(image) * block.pixels() + row) * p.filters + channel;
  const T* const from = static_cast<const T*>(p.prefetched) + first;
#pragma unroll
  for (int j = 0; j < TileT::kN / 8; ++j) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const bool valid = row + half * 8 < block.pixels() && channel + j * 8 < p.filters;
      pairs[2 * j + half] =
          valid ? *reinterpret_cast<const uint32_t*>(from + half * 8 * p.filters + j * 8) : 0;
    }
  }
}

/// Sums a warp's pixels for each filter of the tile. Results are rounded before they are added, as if another
/// kernel pooled them.
template <StreamKind kKind, class T, class TileT>
__device__ __forceinline__ void sum_pixels(const PooledBlock<TileT>& block,
                                           const WarpgroupProduct<T, TileT>& product,
                                           uint32_t (&pairs)[TileT::kN / 4], float* sums) {
  using Pair = typename PairOf<T>::Type;
  const PairFinish<T, kKind> finish(block.p.stream);
  const int row = product.first_row();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto add = [](float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); };
  float2 totals[TileT::kN / 8] = {};
#pragma unroll
  for (int j = 0; j < TileT::kN / 8; ++j) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float* const values = product.sums[0] + 4 * j + 2 * half;
      uint32_t& pair = pairs[2 * j + half];
      finish.run(make_float2(values[0], values[1]), pair);
      if (row + half * 8 < block.pixels())
        totals[j] = add(totals[j], widen(reinterpret_cast<const Pair&>(pair)));
    }
  }
#pragma unroll
  for (int lanes = 4; lanes < 32; lanes *= 2) {
#pragma unroll
    for (float2& total : totals) {
      total = add(total, make_float2(__shfl_xor_sync(0xffffffff, total.x, lanes),
                                     __shfl_xor_sync(0xffffffff, total.y, lanes)));
    }
  }
  float2* const to = reinterpret_cast<float2*>(sums + ptx::warp() * TileT::kN) + lane;
  if (lane >= 4) return;
#pragma unroll
  for (int j = 0; j < TileT::kN / 8; ++j) to[j * 4] = totals[j];
}

template <class T, class TileT>
__device__ __forceinline__ void store_means(const PooledBlock<TileT>& block, int image, int tile_n,
                                            const float* sums) {
  const int i = static_cast<int>(threadIdx.x);
  const int filter = tile_n * TileT::kN + i;
  const int filters = block.p.epilogue.filters;
  if (i >= TileT::kN || filter >= filters) return;
  const float sum = sums[i] + sums[TileT::kN + i] + (sums[2 * TileT::kN + i] + sums[3 * TileT::kN + i]);
  static_cast<T*>(block.p.epilogue.y)[static_cast<size_t>(image) * filters + filter] =
      from_float<T>(sum / static_cast<float>(block.pixels()));
}

/// The role of the warpgroup.
template <class T, StreamKind kKind, class TileT>
__device__ __forceinline__ void pooled_products(const PooledBlock<TileT>& block) {
  RingPlace place;
  // There are two buffers: a warp that reuses one has passed the barrier of the tile in between.
  float* sums = block.sums;
  float* other = sums + 4 * TileT::kN;
  block.tiles([&](int image, int tile_n) {
    WarpgroupProduct<T, TileT> product;
    begin_sums(block.p.epilogue, tile_n, product);
    // y must not be written before the previous kernel has ended, since that may still read it.
    ptx::wait_for_previous_kernel();
    uint32_t pairs[TileT::kN / 4];
    if constexpr (kKind == StreamKind::kAdd) load_pairs<T>(block, image, tile_n, pairs);
    product.run(block.ring, place, block.p.depth_steps);
    product.hold();
    sum_pixels<kKind>(block, product, pairs, sums);
    __syncwarp();
    ptx::sync_threads(1, TileT::kGroups * 128);
    store_means<T>(block, image, tile_n, sums);
    __syncwarp();
    float* const next = other;
    other = sums;
    sums = next;
  });
}

template <class T, class TileT, StreamKind kKind>
__global__ void __launch_bounds__(kPooledThreads)
    warpgroup_gemm_pooled(const __grid_constant__ WarpgroupParams p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(1024) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  const int ring_bytes = p.stages * TileT::kStageBytes;
  const uint32_t start = ptx::shared_address(memory);
  const PooledBlock<TileT> block{
      p,
      {start, start + ring_bytes, p.stages},
      reinterpret_cast<float*>(memory + ring_bytes + p.stages * kRingBarrierBytes)};
  constexpr int kCopier = TileT::kGroups * 128;
  if (static_cast<int>(threadIdx.x) == kCopier) {
    ptx::prefetch_map(p.filters);
    ptx::prefetch_map(p.windows);
    block.ring.init(TileT::kGroups * 4);
    ptx::fence_barriers();
  }
  __syncthreads();
  const int warp = ptx::warp();
  if (warp < kCopier / 32) {
    pooled_products<T, kKind>(block);
  } else if (warp == kCopier / 32) {
    pooled_stages(block);
  } else {
    pooled_first_windows(block);
  }
}

template <class T, StreamKind kKind, int kN>
const void* pooled_kernel() {
  return kernel_address(&warpgroup_gemm_pooled<T, WarpgroupTile<kPooledRows, kN, 1>, kKind>);
}

template <class T, StreamKind kKind, size_t... kTile>
PooledKernels pooled_kernels(std::index_sequence<kTile...>) {
  return {pooled_kernel<T, kKind, kPooledTiles[kTile]>()...};
}

template <class T>
PooledTable pooled_table() {
  constexpr std::make_index_sequence<kPooledTiles.size()> kTiles;
  return {pooled_kernels<T, StreamKind::kBounds>(kTiles), pooled_kernels<T, StreamKind::kAdd>(kTiles),
          pooled_kernels<T, StreamKind::kSwish>(kTiles), pooled_kernels<T, StreamKind::kHardSwish>(kTiles)};
}

}  // namespace hone::device::cuda
