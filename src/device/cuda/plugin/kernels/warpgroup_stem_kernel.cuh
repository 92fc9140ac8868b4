// The stem by warpgroups. Pixels of the patch are 8 or 16 bytes and windows start 16 bytes apart, so that the
// windows' rows of eight neighbouring outputs overlap just as wgmma reads eight rows of 16 bytes: the patch
// is multiplied where it lies, and no window is ever laid out.
#pragma once

#include "device/cuda/plugin/kernels/stem_gemm_kernel.cuh"
#include "device/cuda/plugin/kernels/warpgroup_gemm_finish.cuh"
#include "device/cuda/plugin/kernels/warpgroup_stem.hpp"

namespace hone::device::cuda {

struct WarpgroupStemParams : StemParams {
  CUtensorMap output;  ///< y as [images][rows][columns][filters]
  StreamEpilogue finish;
  int weights_at;  ///< bytes from the start of shared memory; the output comes first
};

/// The tile: 16 x 16 outputs as four fragments of 8 x 8, two a warpgroup.
template <int kN>
using StemTile = WarpgroupTile<256, kN, 2>;
inline constexpr int kStemThreads = 256;

/// Filters as wgmma reads them without swizzling: [depth / 8][kN] runs of 8 elements.
template <class T, int kN>
__device__ __forceinline__ void copy_stem_filters(const ResidentParams& g, int tile_n, uint32_t target) {
  const int runs = g.taps * g.slab / 8;
  const T* const w = static_cast<const T*>(g.w);
  for (int i = static_cast<int>(threadIdx.x); i < runs * kN; i += kStemThreads) {
    const int filter = tile_n * kN + i % kN;
    const bool valid = filter < g.epilogue.filters;
    ptx::copy16(target + i * 16, w + (valid ? filter * g.taps * g.slab + i / kN * 8 : 0), valid);
  }
  ptx::commit_copies();
}

/// A warpgroup's product with the whole depth.
template <class T, int kN>
__device__ __forceinline__ void multiply_patch(const ResidentParams& g, uint32_t patch, uint32_t weights,
                                               WarpgroupProduct<T, StemTile<kN>>& product) {
  const int row_bytes = static_cast<int>(g.patch_width.divisor) * g.patch_pitch;
  // Fragments of a warpgroup lie side by side, warpgroups one below the other; windows are 16 bytes apart.
  const uint32_t corner = patch + threadIdx.x / 128 * 8 * g.stride_h * row_bytes;
  uint64_t right = ptx::plain_descriptor(weights, kN * 16, 128);
#pragma unroll 1
  for (int tap = 0; tap < g.taps; ++tap) {
    uint64_t left = ptx::plain_descriptor(corner + tap * row_bytes, 16, g.stride_h * row_bytes);
#pragma unroll 1
    for (int k = 0; k < g.slab; k += 16) {
      ptx::fence_sums();
#pragma unroll
      for (int i = 0; i < 2; ++i) ptx::multiply<T, kN>(product.sums[i], left + (i * 8 * 16 >> 4), right);
      ptx::commit_products();
      ptx::wait_products<1>();
      left += 32 >> 4;
      right += 2 * kN * 16 >> 4;
    }
  }
  ptx::wait_products<0>();
}

template <class T, int kN, int kChannels, StreamKind kKind>
__global__ void __launch_bounds__(kStemThreads, 2)
    warpgroup_stem(const __grid_constant__ WarpgroupStemParams p) {
  using TileT = StemTile<kN>;
  using Slabs = OutputSlabs<TileT>;
  extern __shared__ __align__(1024) unsigned char stem_memory[];
  const ResidentParams& g = p.gemm;
  if (g.next_waits) ptx::allow_next_kernel();
  const int tiles_n = static_cast<int>(g.tiles_n.divisor);
  const int first = static_cast<int>(g.tiles_n.divide(blockIdx.x));
  const int tile_n = static_cast<int>(blockIdx.x) - first * tiles_n;
  const int stride = static_cast<int>(gridDim.x) / tiles_n;
  const uint32_t output = ptx::shared_address(stem_memory);
  const uint32_t weights = output + p.weights_at;
  auto* const patch = reinterpret_cast<T*>(stem_memory + g.patch_at);
  copy_stem_filters<T, kN>(g, tile_n, weights);
  ptx::wait_for_previous_kernel();
  const int mine = static_cast<int>(threadIdx.x);
  PlaneCopies<T, kChannels, 24 / kChannels, kStemThreads> copies;  // read during the tile before
  copies.fetch(p, WindowTile(g, first, TileT::kM), mine);
  for (int tile_m = first; tile_m < p.tiles_m; tile_m += stride) {
    const WindowTile tile(g, tile_m, TileT::kM);
    copies.place(p, mine, patch);
    for (int more = copies.kPixels; more < g.patch_pixels; more += copies.kPixels) {
      copies.fetch(p, tile, more + mine);
      copies.place(p, more + mine, patch);
    }
    ptx::wait_copies<0>();
    ptx::fence_for_copies();  // wgmma reads what was written
    if (threadIdx.x == 0) ptx::wait_stores_read();
    __syncthreads();
    if (tile_m + stride < p.tiles_m) copies.fetch(p, WindowTile(g, tile_m + stride, TileT::kM), mine);
    WarpgroupProduct<T, TileT> product;
    begin_sums(g.epilogue, tile_n, product);
    multiply_patch(g, ptx::shared_address(patch), weights, product);
    finish_sums<kKind>(p.finish, output, product);
    ptx::fence_for_copies();
    __syncthreads();
    if (threadIdx.x != 0) continue;
    for (int fragment = 0; fragment < TileT::kM / 64; ++fragment) {
      ptx::store_pixels(p.output, output + fragment * Slabs::kBoxBytes, tile_n * kN,
                        tile.x + fragment % 2 * 8, tile.y + fragment / 2 * 8, tile.image);
    }
    ptx::commit_stores();
  }
  if (threadIdx.x == 0) ptx::wait_stores_read();  // shared memory is the block's until it ends
}

}  // namespace hone::device::cuda
