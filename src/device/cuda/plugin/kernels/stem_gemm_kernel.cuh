// The kernel of stems. See stem_gemm.hpp.
#pragma once

#include "device/cuda/plugin/kernels/resident_gemm_kernel.cuh"

namespace hone::device::cuda {

struct StemParams {
  ResidentParams gemm;
  int image_channels;
};

struct StemKernel {
  int tile_m;
  int tile_n;
  int pixel_channels;
  int threads;
  const void* function;
};

/// Reads the pixels under a tile from the planes of the image and lays them out, kChannels each, zeros where
/// the image has none. Several pixels are on their way at once.
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

/// Bias, steps and stores of a whole tile.
template <class T, class TileT>
__device__ __forceinline__ void store_stem(const EpilogueParams& e, const ResidentParams& p,
                                           const WindowTile& tile, int first_channel, const float* bias,
                                           const float* staged) {
#pragma unroll 2
  for (int run = static_cast<int>(threadIdx.x); run < TileT::kRuns; run += TileT::kThreads) {
    const int local = run % (TileT::kN / 8) * 8;
    const int row = tile.output(p, run / (TileT::kN / 8));
    if (row < 0 || first_channel + local >= e.filters) continue;
    const int64_t offset = static_cast<int64_t>(row) * e.filters + first_channel + local;
    uint4 fetched{};
    if (e.prefetched != nullptr)
      fetched = *reinterpret_cast<const uint4*>(static_cast<const T*>(e.prefetched) + offset);
    float values[8] = {};
    sum_slices<TileT>(staged, run, values);
    add4(values, 0, *reinterpret_cast<const float4*>(bias + local));
    add4(values, 4, *reinterpret_cast<const float4*>(bias + local + 4));
    finish_run<T>(e, row, first_channel + local, &fetched, values);
    *reinterpret_cast<uint4*>(static_cast<T*>(e.y) + offset) = pack<T>(values);
  }
}

template <class T, class TileT, int kChannels>
__global__ void __launch_bounds__(TileT::kThreads, 2) stem_gemm(const __grid_constant__ StemParams p) {
  extern __shared__ __align__(128) unsigned char memory[];
  const ResidentParams& g = p.gemm;
  if (g.next_waits) ptx::allow_next_kernel();
  const int tile_m = static_cast<int>(g.tiles_n.divide(blockIdx.x));
  const int tile_n = static_cast<int>(blockIdx.x) - tile_m * static_cast<int>(g.tiles_n.divisor);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  auto* const bias = reinterpret_cast<float*>(memory + ResidentMemory::kBarrier);
  auto* const staged = bias + TileT::kN;
  const uint32_t barrier = ptx::shared_address(memory);
  const uint32_t weights = ptx::shared_address(staged);
  if (warp == 0) {
    if (threadIdx.x == 0) ptx::init_copy_barrier(barrier);
    __syncwarp();
    copy_filters<T, TileT>(g, tile_n, 0, weights, barrier);
  }
  load_bias<TileT::kN>(g.epilogue, tile_n * TileT::kN, g.w, bias);
  const WindowTile tile(g, tile_m, TileT::kM);
  const int pixel = warp / TileT::kWarpsN * TileT::kFragments * 16;
  const int filter = warp % TileT::kWarpsN * TileT::kPairs * 16;
  SliceProduct<T, TileT, true> product(g, tile, ptx::shared_address(memory + g.patch_at), weights, 0, pixel,
                                       filter);

  ptx::wait_for_previous_kernel();
  load_planes<T, kChannels, TileT::kThreads>(p, tile, reinterpret_cast<T*>(memory + g.patch_at));
  ptx::commit_copies();
  ptx::wait_copies<0>();
  __syncthreads();
  ptx::wait_copy_barrier(barrier);
  product.run();
  __syncthreads();
  product.store(staged + pixel * (TileT::kN + kStagePad) + filter);
  __syncthreads();
  store_stem<T, TileT>(g.epilogue, g, tile, tile_n * TileT::kN, bias, staged);
}

}  // namespace hone::device::cuda
