// The stem by warpgroups: pixels are the left matrix, filters the right one. The copy unit brings the planes
// under a tile while the one before is worked on (stem_planes.cuh).
#pragma once

#include "device/cuda/plugin/kernels/common/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_finish.cuh"
#include "device/cuda/regions/stem/plugin/kernels/stem_planes.cuh"
#include "device/cuda/regions/stem/plugin/kernels/warpgroup_stem_params.hpp"

namespace hone::device::cuda {

/// The tile: 16 x 16 outputs as four fragments of 8 x 8, two a warpgroup.
template <int kN>
using StemTile = WarpgroupTile<kStemTile * kStemTile, kN, 2>;
inline constexpr int kStemThreads = 256;

/// Filters as wgmma reads them without swizzling: [depth / 8][kN] runs of 8 elements. Called by one warp. If
/// a tile has fewer filters, the others' sums are never stored.
template <class T, int kN>
__device__ __forceinline__ void copy_stem_filters(const WarpgroupStemParams& p, int tile_n, uint32_t target,
                                                  uint32_t barrier) {
  const int runs = p.kernel_h * p.row_steps * 2;
  const int filters = min(kN, p.epilogue.filters - tile_n * kN);
  const T* const w = static_cast<const T*>(p.w) + tile_n * kN * 8;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (lane == 0) ptx::expect_copies(barrier, runs * filters * 16);
  for (int run = lane; run < runs; run += 32)
    ptx::copy_bulk(target + run * kN * 16, w + static_cast<int64_t>(run) * p.epilogue.filters * 8,
                   filters * 16, barrier);
}

/// A warpgroup's product with the whole depth.
template <class T, int kN, int kChannels>
__device__ __forceinline__ void multiply_patch(const WarpgroupStemParams& p, uint32_t patch, uint32_t weights,
                                               WarpgroupProduct<T, StemTile<kN>>& product) {
  const int row_bytes = p.patch_width * kChannels * 2;
  // Fragments of a warpgroup lie side by side, warpgroups one below the other; windows are 16 bytes apart.
  const uint32_t corner = patch + ptx::warpgroup() * 8 * p.stride_h * row_bytes;
  uint64_t left = ptx::plain_descriptor(corner, 16, p.stride_h * row_bytes);
  uint64_t right = ptx::plain_descriptor(weights, kN * 16, 128);
  const int next_row = (row_bytes - p.row_steps * 32) >> 4;
  int column = 0;
  const auto step = [&] {
#pragma unroll
    for (int i = 0; i < 2; ++i) ptx::multiply<T, kN>(product.sums[i], left + (i * 8 * 16 >> 4), right);
    ++column;
    left += (32 >> 4) + (column == p.row_steps ? next_row : 0);
    right += 2 * kN * 16 >> 4;
    column = column == p.row_steps ? 0 : column;
  };
  const int steps = p.kernel_h * p.row_steps;
#pragma unroll 1
  for (int s = 0; s + 1 < steps; s += 2) {
    ptx::fence_sums();
    step();
    step();
    ptx::commit_products();
    ptx::wait_products<1>();
  }
  if (steps % 2 != 0) {
    ptx::fence_sums();
    step();
    ptx::commit_products();
  }
  ptx::wait_products<0>();
}

/// The larger of each two elements; NaN wins.
template <class Pair>
__device__ __forceinline__ void take_larger(uint4& best, const uint4& other) {
  auto* const to = reinterpret_cast<Pair*>(&best);
  const auto* const from = reinterpret_cast<const Pair*>(&other);
#pragma unroll
  for (int i = 0; i < 4; ++i) to[i] = __hmax2_nan(to[i], from[i]);
}

/// The pool of a finished tile, to memory. A thread takes eight filters of an output.
template <class T, int kN>
__device__ __forceinline__ void pool_tile(const WarpgroupStemParams& p, const StemCorner& corner, int tile_n,
                                          const unsigned char* output) {
  using Slabs = OutputSlabs<StemTile<kN>>;
  using Pair = typename PairOf<T>::Type;
  constexpr int kPieces = kN / 8;
  for (int i = static_cast<int>(threadIdx.x); i < kPooledTile * kPooledTile * kPieces; i += kStemThreads) {
    const int piece = i % kPieces;
    const int pixel = i / kPieces;
    const int down = pixel / kPooledTile;
    const int right = pixel - down * kPooledTile;
    const int y = (corner.y - p.first_y) / 2 + down;
    const int x = (corner.x - p.first_x) / 2 + right;
    const int filter = tile_n * kN + piece * 8;
    if (y >= p.pooled_height || x >= p.pooled_width || filter >= p.epilogue.filters) continue;
    // A neighbour inside the image stands for a pixel outside of it: it is under the window, too.
    int rows[3];
    int columns[3];
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const unsigned r = min(max(corner.y + 2 * down + k, 0), p.out_height - 1) - corner.y;
      const unsigned c = min(max(corner.x + 2 * right + k, 0), p.out_width - 1) - corner.x;
      rows[k] = r / 8 * 2 * Slabs::kBoxBytes + r % 8 * 8 * Slabs::kRowBytes;
      columns[k] = c / 8 * Slabs::kBoxBytes + c % 8 * Slabs::kRowBytes + (piece ^ Slabs::swizzle(c)) * 16;
    }
    uint4 best = *reinterpret_cast<const uint4*>(output + rows[0] + columns[0]);
#pragma unroll
    for (int k = 1; k < 9; ++k)
      take_larger<Pair>(best, *reinterpret_cast<const uint4*>(output + rows[k / 3] + columns[k % 3]));
    const int64_t to = (static_cast<int64_t>(corner.image) * p.pooled_height + y) * p.pooled_width + x;
    *reinterpret_cast<uint4*>(static_cast<T*>(p.epilogue.y) + to * p.epilogue.filters + filter) = best;
  }
}

/// Blocks take one tile after another, so that the weights are read once.
template <class T, int kN, int kChannels, StreamKind kKind, bool kPool>
__global__ void __launch_bounds__(kStemThreads, 2)
    warpgroup_stem(const __grid_constant__ WarpgroupStemParams p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  using TileT = StemTile<kN>;
  using Slabs = OutputSlabs<TileT>;
  extern __shared__ __align__(1024) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  const int tiles_n = static_cast<int>(p.tiles_n.divisor);
  const int first = static_cast<int>(p.tiles_n.divide(blockIdx.x));
  const int tile_n = static_cast<int>(blockIdx.x) - first * tiles_n;
  const int stride = static_cast<int>(gridDim.x) / tiles_n;
  const uint32_t output = ptx::shared_address(memory);
  const uint32_t weights = output + p.weights_at;
  const uint32_t planes = output + p.planes_at;
  const uint32_t barrier = output + p.barrier_at;
  const uint32_t filters_barrier = barrier + 8;
  const uint32_t patch = output + p.patch_at;
  if (threadIdx.x == 0) {
    ptx::prefetch_map(p.image);
    ptx::init_barrier(barrier, 1);
    ptx::init_barrier(filters_barrier, 1);
    ptx::fence_barriers();
  }
  __syncthreads();
  if (ptx::warp() == 1) copy_stem_filters<T, kN>(p, tile_n, weights, filters_barrier);
  ptx::wait_for_previous_kernel();
  if (threadIdx.x == 0) fetch_planes(p, StemCorner(p, first), planes, barrier);
  uint32_t parity = 0;
  for (int tile = first; tile < p.tiles_m; tile += stride) {
    const StemCorner corner(p, tile);
    ptx::wait_barrier(barrier, parity);
    parity ^= 1;
    const int shift = column_shift(first_column(p, corner));
    const int skip = patch_skip<kChannels>(shift);
    interleave_planes<T, kChannels, kStemThreads, 1>(
        p, reinterpret_cast<const float4*>(memory + p.planes_at),
        reinterpret_cast<T*>(memory + p.patch_at) + skip * kChannels);
    ptx::fence_for_copies();  // wgmma reads what was written, and the copy unit writes what was read
    if (!kPool && threadIdx.x == 0) ptx::wait_stores_read();
    __syncthreads();
    if (threadIdx.x == 0 && tile + stride < p.tiles_m)
      fetch_planes(p, StemCorner(p, tile + stride), planes, barrier);
    WarpgroupProduct<T, TileT> product;
    begin_sums(p.epilogue, tile_n, product);
    ptx::wait_barrier(filters_barrier, 0);
    multiply_patch<T, kN, kChannels>(p, patch + (shift + skip) * kChannels * 2, weights, product);
    finish_sums<kKind>(p.finish, output, p.epilogue.filters - tile_n * kN, product);
    if constexpr (kPool) {
      __syncthreads();
      pool_tile<T, kN>(p, corner, tile_n, memory);
    } else {
      ptx::fence_for_copies();
      __syncthreads();
      if (threadIdx.x != 0) continue;
      for (int fragment = 0; fragment < TileT::kM / 64; ++fragment) {
        ptx::store_pixels(p.output, output + fragment * Slabs::kBoxBytes, tile_n * kN,
                          corner.x + fragment % 2 * 8, corner.y + fragment / 2 * 8, corner.image);
      }
      ptx::commit_stores();
    }
  }
  if (!kPool && threadIdx.x == 0) ptx::wait_stores_read();  // shared memory is the block's until it ends
}

}  // namespace hone::device::cuda
