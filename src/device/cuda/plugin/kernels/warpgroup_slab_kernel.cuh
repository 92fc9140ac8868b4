// The kernel of warpgroup_slab.hpp: one block makes its part of the channels of one tile of y, and finishes
// its share of the tile's positions.
#pragma once

#include <utility>

#include "device/cuda/plugin/kernels/cluster_sums.cuh"
#include "device/cuda/plugin/kernels/implicit_gemm_epilogue.cuh"
#include "device/cuda/plugin/kernels/kernel_address.hpp"
#include "device/cuda/plugin/kernels/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/warpgroup_slab_params.hpp"

namespace hone::device::cuda {

/// What all roles of a block know. Chunks are of 64 channels.
template <class TileT>
struct SlabBlock {
  static constexpr int kFilterBytes = TileT::kN * kStageRowBytes;  ///< of a stage

  const SlabParams& p;
  BlockPlace place;
  DepthPart chunks;
  SlabMemory memory;
  StageRing filters;
  StageRing slabs;
  uint32_t received;  ///< barrier of what the cluster sends
  int image;
  int row;  ///< of y, the tile's first

  __device__ __forceinline__ SlabBlock(const SlabParams& params, uint32_t start)
      : p(params),
        place(p),
        chunks(p, place.part),
        memory(slab_memory(TileT::kN, p.split_k, p.slabs, p.slab_bytes)),
        filters{start, start + memory.barriers, kSlabStages},
        slabs{start + memory.slabs, filters.barriers + kSlabStages * kRingBarrierBytes, p.slabs},
        received(slabs.barriers + p.slabs * kRingBarrierBytes),
        image(static_cast<int>(p.tiles_y.divide(place.tile_m))),
        row((place.tile_m - image * static_cast<int>(p.tiles_y.divisor)) * (kSlabPositions >> p.pitch_log2)) {
  }
};

/// A warp that copies: the first `ahead` at once, others when their place is empty. The cluster is waited for
/// between, since a warp that stands before an empty place may keep others from passing its barrier.
template <class Start>
__device__ __forceinline__ void copy_round(const StageRing& ring, int count, const Start& start) {
  RingPlace place;
  const int ahead = min(count, ring.stages);
  for (int i = 0; i < ahead; ++i) start(i, place);
  ptx::wait_cluster();
  for (int i = ahead; i < count; ++i) {
    ptx::wait_barrier(ring.empty(place.stage), place.parity ^ 1);
    start(i, place);
  }
}

/// Filters do not depend on the kernel ahead.
template <class TileT>
__device__ __forceinline__ void copy_filters(const SlabBlock<TileT>& block) {
  int chunk = block.chunks.first;
  int x = 0;
  int y = 0;
  copy_round(block.filters, block.chunks.count * kSlabStages, [&](int, RingPlace& place) {
    if (ptx::elected()) {
      const uint32_t full = block.filters.full(place.stage);
      ptx::expect_copies(full, block.kFilterBytes);
      ptx::copy_box(block.filters.memory + place.stage * block.kFilterBytes, block.p.filters, full,
                    chunk * kStageDepth, y * kSlabWindow + x, block.place.tile_n * TileT::kN);
    }
    __syncwarp();
    place.next(kSlabStages);
    if (++y != kSlabWindow) return;
    y = 0;
    if (++x != kSlabWindow) return;
    x = 0;
    ++chunk;
  });
}

template <class TileT>
__device__ __forceinline__ void copy_slabs(const SlabBlock<TileT>& block) {
  ptx::wait_for_previous_kernel();
  int chunk = block.chunks.first;
  int x = 0;
  copy_round(block.slabs, block.chunks.count * kSlabWindow, [&](int, RingPlace& place) {
    if (ptx::elected()) {
      const uint32_t full = block.slabs.full(place.stage);
      ptx::expect_copies(full, block.p.slab_bytes);
      ptx::copy_pixels(block.slabs.memory + place.stage * block.p.slab_bytes, block.p.image, full,
                       chunk * kStageDepth, x - block.p.pad_left, block.row - block.p.pad_top, block.image);
    }
    __syncwarp();
    place.next(block.slabs.stages);
    if (++x != kSlabWindow) return;
    x = 0;
    ++chunk;
  });
}

/// The warpgroup: adds all taps of all channels of the block's part.
template <class T, class TileT>
__device__ __forceinline__ void multiply_slabs(const SlabBlock<TileT>& block,
                                               WarpgroupProduct<T, TileT>& product) {
  const bool speaks = threadIdx.x % 32 == 0;
  const int tap_bytes = kStageRowBytes << block.p.pitch_log2;
  RingPlace slab;
  RingPlace stage;
  // What the products under way still read: left when the next ones have been started.
  uint32_t read_filters = 0;
  uint32_t read_slab = 0;
  const int count = block.chunks.count * kSlabWindow;
#pragma unroll 1
  for (int s = 0; s < count; ++s) {
    ptx::wait_barrier(block.slabs.full(slab.stage), slab.parity);
    const uint32_t pixels = block.slabs.memory + slab.stage * block.p.slab_bytes;
#pragma unroll
    for (int y = 0; y < kSlabWindow; ++y) {
      ptx::wait_barrier(block.filters.full(stage.stage), stage.parity);
      const uint64_t left = ptx::matrix_descriptor(pixels + y * tap_bytes);
      const uint64_t right = ptx::matrix_descriptor(block.filters.memory + stage.stage * block.kFilterBytes);
      ptx::fence_sums();
#pragma unroll
      for (int k = 0; k < kStageDepth / 16; ++k)
        ptx::multiply<T, TileT::kN>(product.sums[0], left + k * 2, right + k * 2);
      ptx::commit_products();
      ptx::wait_products<1>();
      if (speaks && (y != 0 || s != 0)) ptx::arrive(read_filters);
      if (speaks && y == 0 && s != 0) ptx::arrive(read_slab);
      read_filters = block.filters.empty(stage.stage);
      stage.next(kSlabStages);
    }
    read_slab = block.slabs.empty(slab.stage);
    slab.next(block.slabs.stages);
  }
  ptx::wait_products<0>();
}

/// The positions of a block's share, as pixels of y.
class SlabRows {
 public:
  template <class TileT>
  __device__ __forceinline__ explicit SlabRows(const SlabBlock<TileT>& block)
      : first_(ptx::in_register(block.place.part * (kSlabPositions / block.p.split_k))),
        pitch_log2_(ptx::in_register(block.p.pitch_log2)),
        width_(ptx::in_register(block.p.out_width)),
        height_(ptx::in_register(block.p.out_height - block.row)),
        origin_(ptx::in_register((block.image * block.p.out_height + block.row) * block.p.out_width)) {}

  __device__ __forceinline__ bool valid(int row) const { return x(row) < width_ && y(row) < height_; }
  __device__ __forceinline__ int pixel(int row) const { return origin_ + y(row) * width_ + x(row); }

 private:
  __device__ __forceinline__ int x(int row) const { return (first_ + row) & ((1 << pitch_log2_) - 1); }
  __device__ __forceinline__ int y(int row) const { return (first_ + row) >> pitch_log2_; }

  int first_;
  int pitch_log2_;
  int width_;
  int height_;
  int origin_;
};

/// kSteps: as of ShareFinish.
template <class T, class TileT, bool kSteps>
__global__ void __launch_bounds__(kSlabThreads)
    warpgroup_slab(const __grid_constant__ SlabParams p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(1024) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  const SlabBlock<TileT> block(p, ptx::shared_address(memory));
  constexpr int kFilterCopier = 4;
  const int warp = ptx::warp();
  if (static_cast<int>(threadIdx.x) == kFilterCopier * 32) {
    block.filters.init(4);
    block.slabs.init(4);
    ptx::init_barrier(block.received, 1);
    ptx::fence_barriers();
    ptx::expect_copies(block.received, TileT::kM * TileT::kN * 4);
  }
  if (static_cast<int>(threadIdx.x) == kFilterCopier * 32 + 32) {
    ptx::prefetch_map(p.filters);
    ptx::prefetch_map(p.image);
  }
  __syncthreads();
  ptx::arrive_cluster();  // this block's memory can be written to
  const SumExchange<T, TileT> exchange(p, block.place.part, block.filters.memory + block.memory.receive,
                                       block.received);
  if (warp == kFilterCopier) {
    copy_filters(block);
  } else if (warp > kFilterCopier) {
    copy_slabs(block);
  } else {
    const int parts = ptx::in_register(p.split_k);
    const ShareFinish<T, TileT, kSteps, SlabRows> finish(
        p.epilogue, p.stream, SlabRows(block), block.place.tile_n * TileT::kN,
        reinterpret_cast<uint4*>(memory + block.memory.operand));
    ptx::wait_cluster();
    ptx::wait_for_previous_kernel();
    finish.prefetch(parts);
    ptx::commit_copies();
    WarpgroupProduct<T, TileT> product{};
    multiply_slabs(block, product);
    ptx::wait_copies<0>();
    exchange.send(product);
    exchange.wait();
    finish.run(parts, reinterpret_cast<const float*>(memory + block.memory.receive));
    return;
  }
  exchange.wait();
}

template <class T, bool kSteps, size_t... kTile>
SlabKernels slab_kernels(std::index_sequence<kTile...>) {
  return {kernel_address(&warpgroup_slab<T, WarpgroupTile<kSlabPositions, kSlabTiles[kTile], 1>, kSteps>)...};
}

template <class T>
SlabTable slab_table() {
  constexpr std::make_index_sequence<kSlabTiles.size()> kTiles;
  return {slab_kernels<T, false>(kTiles), slab_kernels<T, true>(kTiles)};
}

}  // namespace hone::device::cuda
