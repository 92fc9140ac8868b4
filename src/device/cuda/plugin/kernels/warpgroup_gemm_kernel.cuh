// The warpgroup GEMM: one thread has the copy unit bring stages of windows and filters into a ring in shared
// memory, warpgroups multiply them. No thread works out an address. One block makes one tile of y, or its
// part of the depth of it.
#pragma once

#include "device/cuda/plugin/kernels/implicit_gemm_epilogue.cuh"
#include "device/cuda/plugin/kernels/warpgroup_gemm_params.hpp"
#include "device/cuda/plugin/kernels/wgmma.cuh"

namespace hone::device::cuda {

/// A block's tile: kM pixels by kN filters, kGroups warpgroups and one warp that copies. A stage is 64 deep.
template <int kM_, int kN_, int kGroups_>
struct WarpgroupTile {
  static constexpr int kM = kM_;
  static constexpr int kN = kN_;
  static constexpr int kGroups = kGroups_;
  static constexpr int kFragments = kM / kGroups / 64;  ///< of 64 pixels, of a warpgroup
  static constexpr int kThreads = kGroups * 128 + 32;
  static constexpr int kBytesM = kM * kStageRowBytes;
  static constexpr int kStageBytes = kBytesM + kN * kStageRowBytes;
  static_assert(kM % (kGroups * 64) == 0 && kN <= kThreads);
};

/// The barriers of a ring: a stage is full when its copies have landed, empty when all have multiplied it.
struct RingBarriers {
  uint32_t start;
  int stages;
  __device__ __forceinline__ uint32_t full(int stage) const { return start + stage * 8; }
  __device__ __forceinline__ uint32_t empty(int stage) const { return start + (stages + stage) * 8; }
};

/// What one thread does: copies of all stages of this block's part of the depth.
template <class TileT>
class StageCopies {
 public:
  __device__ __forceinline__ StageCopies(const WarpgroupParams& p, const BlockPlace& place, uint32_t ring,
                                         const RingBarriers& barriers, int first)
      : ring_(ring), barriers_(barriers), filter_(place.tile_n * TileT::kN) {
    const int pixel = place.tile_m * TileT::kM;
    const int row = static_cast<int>(p.out_width.divide(pixel));
    corner_.w = (pixel - row * static_cast<int>(p.out_width.divisor)) * p.stride_w - p.pad_left;
    corner_.n = static_cast<int>(p.out_height.divide(row));
    corner_.h = (row - corner_.n * static_cast<int>(p.out_height.divisor)) * p.stride_h - p.pad_top;
    seek(p, first);
  }

  /// Filters of the next stage, and the word to its barrier of how much comes in all.
  __device__ __forceinline__ void start_filters(const WarpgroupParams& p, int stage) {
    ptx::expect_copies(barriers_.full(stage), TileT::kStageBytes);
    ptx::copy_box(ring_ + stage * TileT::kStageBytes + TileT::kBytesM, p.filters, barriers_.full(stage),
                  chunk_ * kStageDepth, tap_y_ * p.kernel_w + tap_x_, filter_);
  }
  __device__ __forceinline__ void start_windows(const WarpgroupParams& p, int stage) const {
    ptx::copy_windows(ring_ + stage * TileT::kStageBytes, p.windows, barriers_.full(stage),
                      chunk_ * kStageDepth, corner_, tap_x_ * p.dilation_w, tap_y_ * p.dilation_h);
  }

  __device__ __forceinline__ void seek(const WarpgroupParams& p, int step) {
    const int tap = static_cast<int>(p.chunks.divide(step));
    chunk_ = step - tap * static_cast<int>(p.chunks.divisor);
    tap_y_ = tap / p.kernel_w;
    tap_x_ = tap - tap_y_ * p.kernel_w;
  }
  __device__ __forceinline__ void next(const WarpgroupParams& p) {
    if (++chunk_ != static_cast<int>(p.chunks.divisor)) return;
    chunk_ = 0;
    if (++tap_x_ != p.kernel_w) return;
    tap_x_ = 0;
    ++tap_y_;
  }

 private:
  uint32_t ring_;
  RingBarriers barriers_;
  int filter_;
  ptx::WindowCorner corner_;
  int chunk_;  ///< of 64 channels
  int tap_y_;
  int tap_x_;
};

/// Filters do not depend on the kernel ahead: those of the first stages are on their way before it has ended.
template <class TileT>
__device__ __forceinline__ void copy_stages(const WarpgroupParams& p, StageCopies<TileT>& copies,
                                            const RingBarriers& barriers, int first, int count) {
  const int ahead = min(p.stages, count);
  for (int s = 0; s < ahead; ++s) {
    copies.start_filters(p, s);
    copies.next(p);
  }
  ptx::wait_for_previous_kernel();
  copies.seek(p, first);
  for (int s = 0; s < ahead; ++s) {
    copies.start_windows(p, s);
    copies.next(p);
  }
  int stage = 0;
  uint32_t parity = 0;
  for (int s = ahead; s < count; ++s) {
    ptx::wait_barrier(barriers.empty(stage), parity);
    copies.start_filters(p, stage);
    copies.start_windows(p, stage);
    copies.next(p);
    if (++stage == p.stages) {
      stage = 0;
      parity ^= 1;
    }
  }
}

/// What a warpgroup does: its rows of the tile.
template <class T, class TileT>
struct WarpgroupProduct {
  __device__ __forceinline__ void run(const WarpgroupParams& p, uint32_t ring, const RingBarriers& barriers,
                                      int count) {
    const int group = static_cast<int>(threadIdx.x) / 128;
    const bool speaks = threadIdx.x % 32 == 0;
    int stage = 0;
    int before = 0;
    uint32_t parity = 0;
    for (int s = 0; s < count; ++s) {
      ptx::wait_barrier(barriers.full(stage), parity);
      const uint32_t memory = ring + stage * TileT::kStageBytes;
      const uint64_t left = ptx::matrix_descriptor(memory + group * TileT::kFragments * 64 * kStageRowBytes);
      const uint64_t right = ptx::matrix_descriptor(memory + TileT::kBytesM);
      ptx::fence_sums();
#pragma unroll
      for (int k = 0; k < kStageDepth / 16; ++k) {
#pragma unroll
        for (int i = 0; i < TileT::kFragments; ++i) {
          // 32 bytes further along the depth, 64 rows further down.
          ptx::multiply<T, TileT::kN>(sums[i], left + k * 2 + i * (64 * kStageRowBytes >> 4), right + k * 2);
        }
      }
      ptx::commit_products();
      ptx::wait_products<1>();  // the stage before is done with
      if (s > 0 && speaks) ptx::arrive(barriers.empty(before));
      before = stage;
      if (++stage == p.stages) {
        stage = 0;
        parity ^= 1;
      }
    }
    ptx::wait_products<0>();
  }

  __device__ __forceinline__ void store(float* staged) const {
    constexpr int kPitch = TileT::kN + kStagePad;
    const int group = static_cast<int>(threadIdx.x) / 128;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = group * TileT::kFragments * 64 + static_cast<int>(threadIdx.x) % 128 / 32 * 16 + lane / 4;
    float* const corner = staged + row * kPitch + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < TileT::kFragments; ++i) {
#pragma unroll
      for (int j = 0; j < TileT::kN / 8; ++j) {
        float* const to = corner + i * 64 * kPitch + j * 8;
        *reinterpret_cast<float2*>(to) = make_float2(sums[i][4 * j], sums[i][4 * j + 1]);
        *reinterpret_cast<float2*>(to + 8 * kPitch) = make_float2(sums[i][4 * j + 2], sums[i][4 * j + 3]);
      }
    }
  }

  float sums[TileT::kFragments][TileT::kN / 2] = {};
};

template <class T, class TileT>
__global__ void __launch_bounds__(TileT::kThreads) warpgroup_gemm(const __grid_constant__ WarpgroupParams p) {
  extern __shared__ __align__(1024) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  const BlockPlace place(p);
  const auto [first, count] = DepthPart(p, place.part);
  auto* const staged = reinterpret_cast<float*>(memory);
  auto* const bias = reinterpret_cast<float*>(memory + p.staging_bytes);
  const RingBarriers barriers{ptx::shared_address(bias + TileT::kN), p.stages};
  auto* const prefetched = reinterpret_cast<uint4*>(bias + TileT::kN) + p.stages;  // behind the barriers
  const uint32_t ring = ptx::shared_address(memory);

  constexpr int kCopier = TileT::kGroups * 4;
  const bool copies = static_cast<int>(threadIdx.x) / 32 == kCopier;
  if (static_cast<int>(threadIdx.x) == kCopier * 32) {
    ptx::prefetch_map(p.filters);
    ptx::prefetch_map(p.windows);
    for (int s = 0; s < p.stages; ++s) {
      ptx::init_barrier(barriers.full(s), 1);
      ptx::init_barrier(barriers.empty(s), TileT::kGroups * 4);
    }
    ptx::fence_barriers();
  }
  load_bias<TileT::kN>(p.epilogue, place.tile_n * TileT::kN, p.anywhere, bias);
  __syncthreads();
  WarpgroupProduct<T, TileT> product;
  if (copies) {
    if (threadIdx.x % 32 == 0) {
      StageCopies<TileT> stages(p, place, ring, barriers, first);
      copy_stages<TileT>(p, stages, barriers, first, count);
    }
    __syncwarp();
  }
  ptx::wait_for_previous_kernel();
  if (p.epilogue.prefetched != nullptr)
    prefetch_operand<T, TileT::kN, TileT::kThreads>(p.epilogue, share_of<TileT>(p, place), prefetched);
  ptx::commit_copies();
  if (!copies) product.run(p, ring, barriers, count);
  ptx::wait_copies<0>();
  __syncthreads();
  if (!copies) product.store(staged);
  finish_block<T, TileT>(p, place, EpilogueMemory{staged, bias, prefetched});
}

}  // namespace hone::device::cuda
