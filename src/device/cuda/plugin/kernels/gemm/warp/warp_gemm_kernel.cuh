// The kernel of warp_gemm.hpp. Each load and store of a lane is eight adjacent channels, 16 bytes. For that,
// pixels and filters use the same permutation of a product's channels, and the filters of four products are
// distributed so that a lane's sums of one pixel belong to eight adjacent filters.
#pragma once

#include <utility>

#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/common/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/gemm/warp/warp_gemm.hpp"
#include "device/cuda/plugin/kernels/gemm/warp/warp_gemm_params.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_finish.cuh"

namespace hone::device::cuda {

/// A warp's filters, and the tiles that it computes with them.
template <class T, StreamKind kKind, int kRows, int kChunks>
class WarpTiles {
 public:
  __device__ __forceinline__ WarpTiles(const WarpGemmParams& params, int filter_group)
      : p_(params),
        row_(static_cast<int>(threadIdx.x) % 32 / 4),
        channel_(static_cast<int>(threadIdx.x) % 4 * 8),
        filter_(filter_group * WarpGemmConfig::kFilters + static_cast<int>(threadIdx.x) % 4 * 8) {
    const int first = filter_group * WarpGemmConfig::kFilters;
    const auto* const w = static_cast<const T*>(p_.w);
#pragma unroll
    for (int i = 0; i < kProducts; ++i) {
      // The filter that this lane loads for its column of product i.
      const int filter = first + row_ / 2 * 8 + i * 2 + row_ % 2;
#pragma unroll
      for (int c = 0; c < kChunks; ++c) {
        const bool is_there = filter < p_.filters && has_chunk(c);
        const size_t place = static_cast<size_t>(filter) * p_.channels + channel_ + c * kWarpGemmChunk;
        filters_[i][c] = is_there ? ptx::load_constant(reinterpret_cast<const uint4*>(w + place)) : uint4{};
      }
      const bool has_bias = p_.bias != nullptr && filter_ < p_.filters;
      bias_[i] = has_bias ? __ldg(reinterpret_cast<const float2*>(p_.bias + filter_) + i) : float2{};
    }
  }

  /// The part of a tile's pixels that a lane loads.
  using Pixels = uint4[kRows / 8][kChunks];

  /// Loads the tile that begins at this row of y.
  __device__ __forceinline__ void load(int first_row, Pixels& pixels) const {
#pragma unroll
    for (int e = 0; e < kEights; ++e) load_pixels(first_row + row_ + 8 * e, pixels[e]);
  }

  /// Computes and stores the tile.
  __device__ __forceinline__ void make(int first_row, const Pixels& pixels) const {
    uint32_t results[kEights][kProducts] = {};
#pragma unroll
    for (int e = 0; e < kEights; ++e) load_operand(first_row + row_ + 8 * e, results[e]);
#pragma unroll
    for (int m = 0; m < kRows / 16; ++m) {
      float sums[kProducts][4];
      multiply(pixels[2 * m], pixels[2 * m + 1], sums);
#pragma unroll
      for (int half = 0; half < 2; ++half)
        store(first_row + row_ + 16 * m + 8 * half, half, sums, results[2 * m + half]);
    }
  }

 private:
  static constexpr int kProducts = WarpGemmConfig::kFilters / 8;
  static constexpr int kEights = kRows / 8;

  __device__ __forceinline__ bool has_chunk(int c) const {
    return channel_ + c * kWarpGemmChunk < p_.channels;
  }
  __device__ __forceinline__ bool is_result(int row) const { return row < p_.rows && filter_ < p_.filters; }
  __device__ __forceinline__ size_t place(int row) const {
    return static_cast<size_t>(row) * p_.filters + filter_;
  }

  __device__ __forceinline__ void load_pixels(int row, uint4 (&to)[kChunks]) const {
    const auto* const x = static_cast<const T*>(p_.x) + static_cast<size_t>(row) * p_.channels + channel_;
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      const bool is_there = row < p_.rows && has_chunk(c);
      to[c] = is_there ? *reinterpret_cast<const uint4*>(x + c * kWarpGemmChunk) : uint4{};
    }
  }

  __device__ __forceinline__ void load_operand(int row, uint32_t (&to)[kProducts]) const {
    if (kKind != StreamKind::kAdd || !is_result(row)) return;
    const uint4 words = *reinterpret_cast<const uint4*>(static_cast<const T*>(p_.operand) + place(row));
    to[0] = words.x;
    to[1] = words.y;
    to[2] = words.z;
    to[3] = words.w;
  }

  /// Multiplies rows 0 to 7 (`upper`) and 8 to 15 (`lower`).
  __device__ __forceinline__ void multiply(const uint4 (&upper)[kChunks], const uint4 (&lower)[kChunks],
                                           float (&sums)[kProducts][4]) const {
#pragma unroll
    for (int i = 0; i < kProducts; ++i) {
      sums[i][0] = sums[i][2] = bias_[i].x;
      sums[i][1] = sums[i][3] = bias_[i].y;
    }
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      const uint32_t first[] = {upper[c].x, lower[c].x, upper[c].y, lower[c].y};
      const uint32_t second[] = {upper[c].z, lower[c].z, upper[c].w, lower[c].w};
#pragma unroll
      for (int i = 0; i < kProducts; ++i) ptx::mma<T>(sums[i], first, filters_[i][c].x, filters_[i][c].y);
#pragma unroll
      for (int i = 0; i < kProducts; ++i) ptx::mma<T>(sums[i], second, filters_[i][c].z, filters_[i][c].w);
    }
  }

  /// Stores eight filters of a pixel from the upper or lower
  /// half of `sums`; `words` holds the operand, if any.
  __device__ __forceinline__ void store(int row, int half, const float (&sums)[kProducts][4],
                                        uint32_t (&words)[kProducts]) const {
    if (!is_result(row)) return;
    const PairFinish<T, kKind> finish(p_.epilogue);
#pragma unroll
    for (int i = 0; i < kProducts; ++i)
      finish.run(make_float2(sums[i][2 * half], sums[i][2 * half + 1]), words[i]);
    *reinterpret_cast<uint4*>(static_cast<T*>(p_.y) + place(row)) =
        make_uint4(words[0], words[1], words[2], words[3]);
  }

  const WarpGemmParams& p_;
  int row_;      ///< row of eight
  int channel_;  ///< first of the eight of a chunk that this lane loads
  int filter_;   ///< first of the eight filters that this lane finishes
  uint4 filters_[kProducts][kChunks];
  float2 bias_[kProducts];
};

template <class T, StreamKind kKind, int kRows, int kChunks>
__global__ void __launch_bounds__(kWarpGemmWarps * 32)
    warp_gemm(const __grid_constant__ WarpGemmParams p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  if (p.next_waits) ptx::allow_next_kernel();
  const int warp = static_cast<int>(blockIdx.x) * kWarpGemmWarps + static_cast<int>(threadIdx.x) / 32;
  const int strip = static_cast<int>(p.filter_groups.divide(warp));
  if (strip >= p.strips) return;
  using Tiles = WarpTiles<T, kKind, kRows, kChunks>;
  const Tiles tiles(p, warp - strip * static_cast<int>(p.filter_groups.divisor));
  ptx::wait_for_previous_kernel();
  // With few pixels, there are registers left to load the next tile early.
  constexpr bool kAhead = kRows / 8 * kChunks <= 4;
  const int step = p.strips * kRows;
  int row = strip * kRows;
  typename Tiles::Pixels pixels;
  if (kAhead) tiles.load(row, pixels);
#pragma unroll 1
  for (; row < p.rows; row += step) {
    typename Tiles::Pixels next;
    if (kAhead) {
      tiles.load(row + step, next);
    } else {
      tiles.load(row, pixels);
    }
    tiles.make(row, pixels);
    if constexpr (kAhead) {
#pragma unroll
      for (int i = 0; i < kRows / 8 * kChunks; ++i)
        pixels[i / kChunks][i % kChunks] = next[i / kChunks][i % kChunks];
    }
  }
}

template <class T, StreamKind kKind, size_t... kShape>
const void* warp_gemm_of(size_t shape, std::index_sequence<kShape...>) {
  const void* const kernels[] = {kernel_address(
      &warp_gemm<T, kKind, kWarpGemmShapes[kShape].tile_m, kWarpGemmShapes[kShape].chunks>)...};
  return kernels[shape];
}

template <class T>
const void* warp_gemm_of(size_t shape, StreamKind kind) {
  constexpr std::make_index_sequence<std::size(kWarpGemmShapes)> kShapes;
  switch (kind) {
    case StreamKind::kBounds: return warp_gemm_of<T, StreamKind::kBounds>(shape, kShapes);
    case StreamKind::kAdd: return warp_gemm_of<T, StreamKind::kAdd>(shape, kShapes);
    case StreamKind::kSwish: return warp_gemm_of<T, StreamKind::kSwish>(shape, kShapes);
    case StreamKind::kHardSwish: return warp_gemm_of<T, StreamKind::kHardSwish>(shape, kShapes);
    case StreamKind::kLeaky: return warp_gemm_of<T, StreamKind::kLeaky>(shape, kShapes);
    case StreamKind::kGelu: return warp_gemm_of<T, StreamKind::kGelu>(shape, kShapes);
    case StreamKind::kGeluTanh: break;
  }
  return warp_gemm_of<T, StreamKind::kGeluTanh>(shape, kShapes);
}

}  // namespace hone::device::cuda
