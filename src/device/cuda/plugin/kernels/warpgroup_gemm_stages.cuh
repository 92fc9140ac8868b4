// What the warpgroup GEMM kernels share: the ring of stages in shared memory, the warp that has the copy unit
// fill it, and the warpgroups that multiply what is in it. No thread works out an address of an element.
#pragma once

#include "device/cuda/plugin/kernels/gemm_store.cuh"
#include "device/cuda/plugin/kernels/warpgroup_gemm_params.hpp"
#include "device/cuda/plugin/kernels/wgmma.cuh"

namespace hone::device::cuda {

/// A block's tile: kM pixels by kN filters, multiplied by kGroups warpgroups. A stage is 64 deep.
template <int kM_, int kN_, int kGroups_>
struct WarpgroupTile {
  static constexpr int kM = kM_;
  static constexpr int kN = kN_;
  static constexpr int kGroups = kGroups_;
  static constexpr int kFragments = kM / kGroups / 64;  ///< of 64 pixels, of a warpgroup
  static constexpr int kBytesM = kM * kStageRowBytes;
  static constexpr int kStageBytes = kBytesM + kN * kStageRowBytes;
  static_assert(kM % (kGroups * 64) == 0);
};

/// The ring: a stage is full when its copies have landed, empty when all warps have multiplied it.
struct StageRing {
  uint32_t memory;
  uint32_t barriers;
  int stages;
  __device__ __forceinline__ uint32_t full(int stage) const { return barriers + stage * 8; }
  __device__ __forceinline__ uint32_t empty(int stage) const { return barriers + (stages + stage) * 8; }

  /// By one thread, before any other comes.
  __device__ __forceinline__ void init(int warps) const {
    for (int s = 0; s < stages; ++s) {
      ptx::init_barrier(full(s), 1);
      ptx::init_barrier(empty(s), warps);
    }
  }
};

/// A place in the ring that goes round. Who fills starts one round behind, since all stages are empty at
/// first.
struct RingPlace {
  int stage = 0;
  uint32_t parity = 0;
  __device__ __forceinline__ void next(int stages) {
    if (++stage != stages) return;
    stage = 0;
    parity ^= 1;
  }
};

/// Where the warp that copies stands in the depth of a tile. All of its lanes are together in each call, and
/// know the same.
template <class TileT>
class StageCopies {
 public:
  __device__ __forceinline__ StageCopies(const WarpgroupParams& p, int tile_m, int tile_n, int first)
      : filter_(tile_n * TileT::kN) {
    const int pixel = tile_m * TileT::kM;
    const int row = static_cast<int>(p.out_width.divide(pixel));
    corner_.w = (pixel - row * static_cast<int>(p.out_width.divisor)) * p.stride_w - p.pad_left;
    corner_.n = static_cast<int>(p.out_height.divide(row));
    corner_.h = (row - corner_.n * static_cast<int>(p.out_height.divisor)) * p.stride_h - p.pad_top;
    tap_ = static_cast<int>(p.chunks.divide(first));
    chunk_ = first - tap_ * static_cast<int>(p.chunks.divisor);
    tap_y_ = tap_ / p.kernel_w;
    tap_x_ = tap_ - tap_y_ * p.kernel_w;
  }

  /// The first `count` stages of an empty ring. Filters do not depend on the kernel ahead, so they are on
  /// their way before it has ended.
  __device__ __forceinline__ void start_ring(const WarpgroupParams& p, const StageRing& ring, int count) {
    StageCopies windows = *this;
    start_ring_filters(p, ring, count);
    windows.start_ring_windows(p, ring, count);
  }
  __device__ __forceinline__ void start_ring_filters(const WarpgroupParams& p, const StageRing& ring,
                                                     int count) {
    for (int s = 0; s < count; ++s) {
      if (ptx::elected()) start_filters(p, ring, s);
      __syncwarp();
      next(p);
    }
  }
  __device__ __forceinline__ void start_ring_windows(const WarpgroupParams& p, const StageRing& ring,
                                                     int count) {
    ptx::wait_for_previous_kernel();
    for (int s = 0; s < count; ++s) {
      if (ptx::elected()) start_windows(p, ring, s);
      __syncwarp();
      next(p);
    }
  }

  /// The next stage, as soon as its place is empty.
  __device__ __forceinline__ void start_stage(const WarpgroupParams& p, const StageRing& ring,
                                              RingPlace& place) {
    ptx::wait_barrier(ring.empty(place.stage), place.parity ^ 1);
    if (ptx::elected()) {
      start_filters(p, ring, place.stage);
      start_windows(p, ring, place.stage);
    }
    __syncwarp();
    place.next(ring.stages);
    next(p);
  }

 private:
  __device__ __forceinline__ void next(const WarpgroupParams& p) {
    if (++chunk_ != static_cast<int>(p.chunks.divisor)) return;
    chunk_ = 0;
    ++tap_;
    if (++tap_x_ != p.kernel_w) return;
    tap_x_ = 0;
    ++tap_y_;
  }

  /// Filters of the stage, and the word to its barrier of how much comes in all.
  __device__ __forceinline__ void start_filters(const WarpgroupParams& p, const StageRing& ring,
                                                int stage) const {
    ptx::expect_copies(ring.full(stage), TileT::kStageBytes);
    ptx::copy_box(ring.memory + stage * TileT::kStageBytes + TileT::kBytesM, p.filters, ring.full(stage),
                  chunk_ * kStageDepth, tap_, filter_);
  }
  __device__ __forceinline__ void start_windows(const WarpgroupParams& p, const StageRing& ring,
                                                int stage) const {
    ptx::copy_windows(ring.memory + stage * TileT::kStageBytes, p.windows, ring.full(stage),
                      chunk_ * kStageDepth, corner_, tap_x_ * p.dilation_w, tap_y_ * p.dilation_h);
  }

  int filter_;
  ptx::WindowCorner corner_;
  int chunk_;  ///< of 64 channels
  int tap_;
  int tap_y_;
  int tap_x_;
};

/// A warpgroup's sums: its kFragments of 64 rows of the tile.
template <class T, class TileT>
struct WarpgroupProduct {
  /// Two stages a turn of the loop: products of few filters take less time than it takes to start them, of
  /// which a turn of one stage lets fewer overlap.
  static constexpr bool kPairs = TileT::kN <= 64 && TileT::kFragments == 1;

  /// Adds `count` stages.
  __device__ __forceinline__ void run(const StageRing& ring, RingPlace& place, int count) {
    const int group = ptx::warpgroup();
    const bool speaks = threadIdx.x % 32 == 0;
    int before = 0;
    const auto add = [&](bool first) {
      ptx::wait_barrier(ring.full(place.stage), place.parity);
      const uint32_t memory = ring.memory + place.stage * TileT::kStageBytes;
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
      if (!first && speaks) ptx::arrive(ring.empty(before));
      before = place.stage;
      place.next(ring.stages);
    };
    int s = 0;
    if constexpr (kPairs) {
#pragma unroll 1
      for (; s + 1 < count; s += 2) {
        add(s == 0);
        add(false);
      }
    }
    for (; s < count; ++s) add(s == 0);
    ptx::wait_products<0>();
    if (speaks) ptx::arrive(ring.empty(before));
  }

  /// Whatever reads the sums behind it stays behind it, and so behind the wait for the products.
  __device__ __forceinline__ void hold() {
#pragma unroll
    for (auto& fragment : sums) {
#pragma unroll
      for (float& sum : fragment) asm volatile("" : "+f"(sum));
    }
  }

  /// Row of the tile that this thread's sums of fragment 0 begin with; the other half is 8 below.
  static __device__ __forceinline__ int first_row() {
    const int thread = static_cast<int>(threadIdx.x);
    return thread / 128 * TileT::kFragments * 64 + thread % 128 / 32 * 16 + thread % 32 / 4;
  }

  float sums[TileT::kFragments][TileT::kN / 2];
};

}  // namespace hone::device::cuda
