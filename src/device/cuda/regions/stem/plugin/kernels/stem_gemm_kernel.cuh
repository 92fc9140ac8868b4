// The kernel of stems. See stem_gemm.hpp.
#pragma once

#include "device/cuda/plugin/kernels/common/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/gemm/resident/resident_gemm_kernel.cuh"
#include "device/cuda/regions/stem/plugin/kernels/stem_gemm_params.hpp"

namespace hone::device::cuda {

struct StemKernel {
  int tile_m;
  int tile_n;
  int pixel_channels;
  int threads;
  int staged_bytes;
  const void* function;
};

/// Copies the pixels under a tile from the planes of the image, kChannels a pixel; zeros where it has none.
template <class T, int kChannels, int kThreads>
__device__ __forceinline__ void load_planes(const StemParams& p, const WindowTile& tile, T* patch) {
  constexpr int kAtOnce = 4;
  const ResidentParams& g = p.gemm;
  const int64_t plane = static_cast<int64_t>(g.height) * g.width;
  const float* const image =
      static_cast<const float*>(g.x) + static_cast<int64_t>(tile.image) * p.image_channels * plane;
#pragma unroll 1
  for (int first = static_cast<int>(threadIdx.x); first < g.patch_pixels; first += kAtOnce * kThreads) {
    float values[kAtOnce][kChannels];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int pixel = first + i * kThreads;
      const int down = static_cast<int>(g.patch_width.divide(pixel));
      const int y = tile.y * g.stride_h - g.pad_top + down;
      const int x = tile.x * g.stride_w - g.pad_left + pixel - down * static_cast<int>(g.patch_width.divisor);
      const bool inside = pixel < g.patch_pixels &&
                          static_cast<unsigned>(y) < static_cast<unsigned>(g.height) &&
                          static_cast<unsigned>(x) < static_cast<unsigned>(g.width);
      const float* const from = image + (inside ? y * g.width + x : 0);
#pragma unroll
      for (int c = 0; c < kChannels; ++c)
        values[i][c] = inside && c < p.image_channels ? __ldg(from + c * plane) : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int pixel = first + i * kThreads;
      if (pixel >= g.patch_pixels) break;
      alignas(16) T rounded[kChannels];
#pragma unroll
      for (int c = 0; c < kChannels; ++c) rounded[c] = static_cast<T>(values[i][c]);
      if constexpr (kChannels == 4) {
        *reinterpret_cast<uint2*>(patch + pixel * 4) = *reinterpret_cast<const uint2*>(rounded);
      } else {
        *reinterpret_cast<uint4*>(patch + pixel * 8) = *reinterpret_cast<const uint4*>(rounded);
      }
    }
  }
}

/// One value's steps, all of which are unary.
__device__ __forceinline__ float finish_value(const EpilogueParams& e, float value) {
  if (e.mode == EpilogueMode::kRelu) return value < 0.0f ? 0.0f : value;
#pragma unroll 1
  for (int s = 0; s < e.step_count; ++s)
    value = apply_unary(e.steps[s].op, e.steps[s].alpha, e.steps[s].beta, value);
  return value;
}

/// A warp's part of the tile on its way to y.
template <class T, class TileT>
struct WarpOutput {
  static constexpr int kPixels = TileT::kFragments * 16;
  static constexpr int kFilters = TileT::kPairs * 16;
  /// 16 bytes more than the filters: eight rows then lie in eight different groups of banks.
  static constexpr int kPitch = kFilters + 8;
  static constexpr int kBytes = kPixels * kPitch * 2;

  /// Bias, steps and rounding, to `staged` [kPixels][kPitch].
  template <class Product>
  static __device__ __forceinline__ void stage(const EpilogueParams& e, const Product& product,
                                               const float* bias, T* staged) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < TileT::kFragments; ++i) {
#pragma unroll
      for (int j = 0; j < 2 * TileT::kPairs; ++j) {
        const int filter = j * 8 + lane % 4 * 2;
        const float2 add = *reinterpret_cast<const float2*>(bias + filter);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          typename PairOf<T>::Type pair;
          narrow(make_float2(finish_value(e, product.sums[i][j][2 * half] + add.x),
                             finish_value(e, product.sums[i][j][2 * half + 1] + add.y)),
                 pair);
          T* const to = staged + (i * 16 + half * 8 + lane / 4) * kPitch + filter;
          *reinterpret_cast<typename PairOf<T>::Type*>(to) = pair;
        }
      }
    }
  }

  /// Eight filters a lane and turn. `pixel` and `filter` are those of the warp in the tile, in y.
  static __device__ __forceinline__ void store(const ResidentParams& p, const WindowTile& tile, int pixel,
                                               int filter, const T* staged) {
    constexpr int kPerRow = kFilters / 8;
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < kPixels * kPerRow / 32; ++i) {
      const int at = i * 32 + lane;
      const int row = tile.output(p, pixel + at / kPerRow);
      const int channel = filter + at % kPerRow * 8;
      if (row < 0 || channel >= p.epilogue.filters) continue;
      T* const to = static_cast<T*>(p.epilogue.y) + static_cast<int64_t>(row) * p.epilogue.filters + channel;
      *reinterpret_cast<uint4*>(to) =
          *reinterpret_cast<const uint4*>(staged + at / kPerRow * kPitch + at % kPerRow * 8);
    }
  }
};

/// Blocks take one tile after another, so that the weights are read once.
template <class T, class TileT, int kChannels>
__global__ void __launch_bounds__(TileT::kThreads, 2)
    stem_gemm(const __grid_constant__ StemParams p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  using Output = WarpOutput<T, TileT>;
  extern __shared__ __align__(128) unsigned char memory[];
  const ResidentParams& g = p.gemm;
  if (g.next_waits) ptx::allow_next_kernel();
  const int tiles_n = static_cast<int>(g.tiles_n.divisor);
  const int first = static_cast<int>(g.tiles_n.divide(blockIdx.x));
  const int tile_n = static_cast<int>(blockIdx.x) - first * tiles_n;
  const int stride = static_cast<int>(gridDim.x) / tiles_n;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  auto* const bias = reinterpret_cast<float*>(memory + ResidentMemory::kBarrier);
  auto* const patch = reinterpret_cast<T*>(memory + g.patch_at);
  auto* const staged = reinterpret_cast<T*>(memory + p.staged_at + warp * Output::kBytes);
  const uint32_t barrier = ptx::shared_address(memory);
  const uint32_t weights = ptx::shared_address(bias + TileT::kN);
  if (warp == 0) {
    if (threadIdx.x == 0) ptx::init_copy_barrier(barrier);
    __syncwarp();
    copy_filters<T, TileT>(g, tile_n, 0, weights, barrier);
  }
  load_bias<TileT::kN>(g.epilogue, tile_n * TileT::kN, g.w, bias);
  ptx::commit_copies();
  const int pixel = warp / TileT::kWarpsN * Output::kPixels;
  const int filter = warp % TileT::kWarpsN * Output::kFilters;
  const SliceProduct<T, TileT, true> start(g, WindowTile(g, first, TileT::kM), ptx::shared_address(patch),
                                           weights, 0, pixel, filter);
  ptx::wait_for_previous_kernel();
  for (int tile_m = first; tile_m < p.tiles_m; tile_m += stride) {
    const WindowTile tile(g, tile_m, TileT::kM);
    load_planes<T, kChannels, TileT::kThreads>(p, tile, patch);
    ptx::wait_copies<0>();
    __syncthreads();
    if (tile_m == first) ptx::wait_copy_barrier(barrier);
    auto product = start;
    product.run();
    __syncthreads();  // all are done with the patch
    Output::stage(g.epilogue, product, bias + filter, staged);
    __syncwarp();
    Output::store(g, tile, pixel, tile_n * TileT::kN + filter, staged);
    __syncwarp();
  }
}

}  // namespace hone::device::cuda
