// The warpgroup GEMM as a stream of tiles: blocks stay on their multiprocessor and compute one tile after
// another. The ring is filled for the next tile while the sums of the current one are finished, and a
// separate warp stores them. It serves undivided depths and the epilogues of stream_epilogue.hpp.
#pragma once

#include "device/cuda/plugin/kernels/common/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_finish.cuh"

namespace hone::device::cuda {

/// The barriers of the tile in shared memory, after those of the ring.
struct OutputBarriers {
  uint32_t start;
  __device__ __forceinline__ uint32_t operand() const { return start; }  ///< has arrived
  __device__ __forceinline__ uint32_t finished(int group) const { return start + 8 + group * 16; }
  __device__ __forceinline__ uint32_t stored(int group) const { return start + 16 + group * 16; }
};

/// The values that all roles of a block share.
template <class TileT>
struct StreamBlock {
  const typename TileT::Params& p;
  StageRing ring;
  OutputBarriers barriers;
  uint32_t output;

  /// Runs `each(tile_m, tile_n)` over this block's tiles.
  template <class Each>
  __device__ __forceinline__ void tiles(const Each& each) const {
    for (int tile = static_cast<int>(blockIdx.x); tile < p.tiles; tile += static_cast<int>(gridDim.x)) {
      const int tile_m = static_cast<int>(p.tiles_n.divide(tile));
      each(tile_m, tile - tile_m * static_cast<int>(p.tiles_n.divisor));
    }
  }
};

/// Copies the operand of a tile's addition into the place of its output, once the previous tile has been
/// stored. Called by a whole warp, like all functions that copy.
template <class TileT>
__device__ __forceinline__ void copy_operand(const StreamBlock<TileT>& block, int tile_m, int tile_n,
                                             uint32_t parity) {
  using Slabs = OutputSlabs<TileT>;
  for (int group = 0; group < TileT::kGroups; ++group)
    ptx::wait_barrier(block.barriers.stored(group), parity ^ 1);
  if (ptx::elected()) {
    ptx::expect_copies(block.barriers.operand(), Slabs::kBytes);
    for (int slab = 0; slab < Slabs::kSlabs; ++slab) {
      for (int row = 0; row < TileT::kM; row += 64) {
        ptx::copy_rows(block.output + slab * Slabs::kSlabBytes + row * Slabs::kRowBytes, block.p.operand,
                       block.barriers.operand(), tile_n * TileT::kN + slab * Slabs::kChannels,
                       tile_m * TileT::kM + row);
      }
    }
  }
  __syncwarp();
}

/// True if the storing warp copies the first windows. If the previous kernel has ended before this block
/// begins, they would otherwise arrive after all filters. With an operand to copy, this does not pay.
template <StreamKind kKind>
inline constexpr bool kWindowsApart = kKind != StreamKind::kAdd;

/// The role of the warp that copies.
template <StreamKind kKind, class TileT>
__device__ __forceinline__ void stream_stages(const StreamBlock<TileT>& block) {
  const auto& p = block.p;
  RingPlace place;
  bool started = false;
  uint32_t parity = 0;
  block.tiles([&](int tile_m, int tile_n) {
    CopiesOf<TileT> stages(p, tile_m * TileT::kM, tile_n, 0);
    const int ahead = min(p.stages, p.depth_steps);
    if (!started) {
      started = true;
      if (kWindowsApart<kKind>) {
        stages.start_ring_filters(p, block.ring, ahead);
        ptx::wait_for_previous_kernel();
      } else {
        stages.start_ring(p, block.ring, ahead);
      }
      for (int s = 0; s < ahead; ++s) place.next(p.stages);
    } else {
      stages.start_stages(p, block.ring, place, ahead);
    }
    // The ring is full by now, so that waiting for the previous tile delays no stage.
    if (kKind == StreamKind::kAdd) copy_operand(block, tile_m, tile_n, parity);
    parity ^= 1;
    stages.start_stages(p, block.ring, place, p.depth_steps, ahead);
  });
}

/// The role of the warp that stores.
template <class TileT>
__device__ __forceinline__ void stream_outputs(const StreamBlock<TileT>& block) {
  using Slabs = OutputSlabs<TileT>;
  uint32_t parity = 0;
  block.tiles([&](int tile_m, int tile_n) {
    for (int group = 0; group < TileT::kGroups; ++group) {
      ptx::wait_barrier(block.barriers.finished(group), parity);
      if (ptx::elected()) {
        for (int fragment = 0; fragment < TileT::kFragments; ++fragment) {
          const int row = (group * TileT::kFragments + fragment) * 64;
          for (int slab = 0; slab < Slabs::kSlabs; ++slab) {
            ptx::store_rows(block.p.output, block.output + slab * Slabs::kSlabBytes + row * Slabs::kRowBytes,
                            tile_n * TileT::kN + slab * Slabs::kChannels, tile_m * TileT::kM + row);
          }
        }
        ptx::commit_stores();
      }
      __syncwarp();
    }
    if (ptx::elected()) {
      ptx::wait_stores_read();
      for (int group = 0; group < TileT::kGroups; ++group) ptx::arrive(block.barriers.stored(group));
    }
    __syncwarp();
    parity ^= 1;
  });
}

/// The role of a warpgroup.
template <class T, StreamKind kKind, class TileT>
__device__ __forceinline__ void stream_products(const StreamBlock<TileT>& block) {
  const auto& p = block.p;
  const int group = ptx::warpgroup();
  RingPlace place;
  uint32_t parity = 0;
  block.tiles([&](int, int tile_n) {
    WarpgroupProduct<T, TileT> product;
    begin_sums(p.epilogue, tile_n, product);
    product.run(block.ring, place, p.depth_steps);
    // Wait until the place is free: the previous tile has been stored, and the operand, if any, has arrived.
    if (kKind == StreamKind::kAdd) {
      ptx::wait_barrier(block.barriers.operand(), parity);
    } else {
      ptx::wait_barrier(block.barriers.stored(group), parity ^ 1);
    }
    finish_sums<kKind>(p.stream, block.output, p.epilogue.filters - tile_n * TileT::kN, product);
    ptx::fence_for_copies();
    __syncwarp();
    if (threadIdx.x % 32 == 0) ptx::arrive(block.barriers.finished(group));
    parity ^= 1;
  });
}

template <class T, class TileT, StreamKind kKind>
__global__ void __launch_bounds__(TileT::kGroups * 128 + 64)
    warpgroup_gemm_stream(const __grid_constant__ typename TileT::Params p, KernelStamp* stamp) {
  const RunningKernel running(stamp, TileT::kGroups * 128 + 32);
  extern __shared__ __align__(1024) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  const uint32_t start = ptx::shared_address(memory);
  const uint32_t output = start + p.stages * TileT::kStageBytes;
  const uint32_t barriers = output + OutputSlabs<TileT>::kBytes;
  const StreamBlock<TileT> block{p, {start, barriers, p.stages}, {barriers + p.stages * 16}, output};
  constexpr int kCopier = TileT::kGroups * 128;
  constexpr int kStorer = kCopier + 32;
  // Done by a warp that does not set up the barriers, so that the first copies start sooner.
  if (static_cast<int>(threadIdx.x) == kStorer) {
    ptx::prefetch_map(p.filters);
    ptx::prefetch_map(p.windows);
    prefetch_second_maps(p);
    ptx::prefetch_map(p.output);
  }
  if (static_cast<int>(threadIdx.x) == kCopier) {
    block.ring.init(TileT::kGroups * 4);
    ptx::init_barrier(block.barriers.operand(), 1);
    for (int group = 0; group < TileT::kGroups; ++group) {
      ptx::init_barrier(block.barriers.finished(group), 4);
      ptx::init_barrier(block.barriers.stored(group), 1);
    }
    ptx::fence_barriers();
  }
  __syncthreads();
  const int warp = ptx::warp();
  if (warp < kCopier / 32) {
    stream_products<T, kKind>(block);
  } else if (warp == kCopier / 32) {
    stream_stages<kKind>(block);
  } else {
    // y must not be written before the previous kernel has ended, since that may still read it.
    ptx::wait_for_previous_kernel();
    if (kWindowsApart<kKind>)
      CopiesOf<TileT>(p, static_cast<int>(p.tiles_n.divide(blockIdx.x)) * TileT::kM, 0, 0)
          .start_ring_windows(p, block.ring, min(p.stages, p.depth_steps));
    stream_outputs(block);
  }
}

}  // namespace hone::device::cuda
