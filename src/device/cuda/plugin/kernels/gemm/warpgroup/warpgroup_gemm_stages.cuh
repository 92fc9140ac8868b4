// The common part of the warpgroup GEMM kernels: the ring of stages in shared memory, the warp that fills it
// through the copy unit, and the warpgroups that multiply its contents. No thread computes addresses of
// single elements.
#pragma once

#include <type_traits>

#include "device/cuda/plugin/kernels/common/wgmma.cuh"
#include "device/cuda/plugin/kernels/gemm/gemm_store.cuh"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_params.hpp"

namespace hone::device::cuda {

/// A block's tile: kM pixels by kN filters, multiplied by kGroups warpgroups. The depth of a stage is 64.
template <int kM_, int kN_, int kGroups_>
struct WarpgroupTile {
  static constexpr int kM = kM_;
  static constexpr int kN = kN_;
  static constexpr int kGroups = kGroups_;
  static constexpr int kFragments = kM / kGroups / 64;  ///< of 64 pixels, for one warpgroup
  static constexpr int kBytesM = kM * kStageRowBytes;
  static constexpr int kStageBytes = kBytesM + kN * kStageRowBytes;
  static_assert(kM % (kGroups * 64) == 0);
  using Params = WarpgroupParams;
  static constexpr bool kSums = false;
};

/// The tile of a sum of two convolutions.
template <class TileT>
struct SumTile : TileT {
  using Params = WarpgroupSumParams;
  static constexpr bool kSums = true;
};

/// The ring of stages. A stage is full when its copies have
/// arrived, and empty when all warps have multiplied it.
struct StageRing {
  uint32_t memory;
  uint32_t barriers;
  int stages;
  __device__ __forceinline__ uint32_t full(int stage) const { return barriers + stage * 8; }
  __device__ __forceinline__ uint32_t empty(int stage) const { return barriers + (stages + stage) * 8; }

  /// Called by one thread before any other thread uses the ring.
  __device__ __forceinline__ void init(int warps) const {
    for (int s = 0; s < stages; ++s) {
      ptx::init_barrier(full(s), 1);
      ptx::init_barrier(empty(s), warps);
    }
  }
};

/// A position in the ring. The filler starts with the
/// opposite parity, since all stages are empty at first.
struct RingPlace {
  int stage = 0;
  uint32_t parity = 0;
  __device__ __forceinline__ void next(int stages) {
    if (++stage != stages) return;
    stage = 0;
    parity ^= 1;
  }
};

/// The copying warp's position in the depth of a tile. All lanes of the warp
/// make each call together, with the same values. `source` describes the
/// operands: the kernel's parameter, or the second convolution of a sum.
template <class TileT>
class StageCopies {
 public:
  /// Starts at output pixel `first_pixel` of the batch and stage `first_stage` of the depth.
  __device__ __forceinline__ StageCopies(const WarpgroupParams& p, int first_pixel, int tile_n,
                                         int first_stage)
      : StageCopies(p, p, first_pixel, tile_n, first_stage) {}
  template <class Source>
  __device__ __forceinline__ StageCopies(const WarpgroupParams& p, const Source& source, int first_pixel,
                                         int tile_n, int first_stage)
      : filter_(tile_n * TileT::kN) {
    const SourceWindows& geometry = source.geometry;
    const int row = static_cast<int>(p.out_width.divide(first_pixel));
    corner_.w =
        (first_pixel - row * static_cast<int>(p.out_width.divisor)) * geometry.stride_w - geometry.pad_left;
    corner_.n = static_cast<int>(p.out_height.divide(row));
    corner_.h =
        (row - corner_.n * static_cast<int>(p.out_height.divisor)) * geometry.stride_h - geometry.pad_top;
    tap_ = static_cast<int>(source.chunks.divide(first_stage));
    chunk_ = first_stage - tap_ * static_cast<int>(source.chunks.divisor);
    tap_y_ = tap_ / geometry.kernel_w;
    tap_x_ = tap_ - tap_y_ * geometry.kernel_w;
  }

  /// Starts the first `count` stages of an empty ring. Filters do not depend on the previous kernel, so their
  /// copies start before it has ended.
  template <class Source>
  __device__ __forceinline__ void start_ring(const Source& source, const StageRing& ring, int count) {
    StageCopies windows = *this;
    start_ring_filters(source, ring, count);
    windows.start_ring_windows(source, ring, count);
  }
  /// Starts the copies of filters for the stages from `first` to before `end`.
  template <class Source>
  __device__ __forceinline__ void start_ring_filters(const Source& source, const StageRing& ring, int end,
                                                     int first = 0) {
    for (int s = first; s < end; ++s) {
      if (ptx::elected()) start_filters(source, ring, s);
      __syncwarp();
      next(source);
    }
  }
  template <class Source>
  __device__ __forceinline__ void start_ring_windows(const Source& source, const StageRing& ring, int end,
                                                     int first = 0) {
    ptx::wait_for_previous_kernel();
    for (int s = first; s < end; ++s) {
      if (ptx::elected()) start_windows(source, ring, s);
      __syncwarp();
      next(source);
    }
  }

  /// Starts the next stage as soon as its place is empty.
  template <class Source>
  __device__ __forceinline__ void start_stage(const Source& source, const StageRing& ring, RingPlace& place) {
    ptx::wait_barrier(ring.empty(place.stage), place.parity ^ 1);
    if (ptx::elected()) {
      start_filters(source, ring, place.stage);
      start_windows(source, ring, place.stage);
    }
    __syncwarp();
    place.next(ring.stages);
    next(source);
  }
  /// Starts the next `end` - `first` stages.
  template <class Source>
  __device__ __forceinline__ void start_stages(const Source& source, const StageRing& ring, RingPlace& place,
                                               int end, int first = 0) {
    for (int s = first; s < end; ++s) start_stage(source, ring, place);
  }

 private:
  template <class Source>
  __device__ __forceinline__ void next(const Source& source) {
    if (++chunk_ != static_cast<int>(source.chunks.divisor)) return;
    chunk_ = 0;
    ++tap_;
    if (++tap_x_ != source.geometry.kernel_w) return;
    tap_x_ = 0;
    ++tap_y_;
  }

  /// Starts the copy of a stage's filters, and announces the bytes of the whole stage to its barrier.
  __device__ __forceinline__ void start_filters(const SourceMaps& maps, const StageRing& ring,
                                                int stage) const {
    ptx::expect_copies(ring.full(stage), TileT::kStageBytes);
    ptx::copy_box(ring.memory + stage * TileT::kStageBytes + TileT::kBytesM, maps.filters, ring.full(stage),
                  chunk_ * kStageDepth, tap_, filter_);
  }
  template <class Source>
  __device__ __forceinline__ void start_windows(const Source& source, const StageRing& ring,
                                                int stage) const {
    ptx::copy_windows(ring.memory + stage * TileT::kStageBytes, source.windows, ring.full(stage),
                      chunk_ * kStageDepth, corner_, tap_x_ * source.geometry.dilation_w,
                      tap_y_ * source.geometry.dilation_h);
  }

  int filter_;
  ptx::WindowCorner corner_;
  int chunk_;  ///< chunk of 64 channels
  int tap_;
  int tap_y_;
  int tap_x_;
};

/// The copies of a sum of two convolutions. Each convolution has its own loops: a choice in every iteration
/// would move the addresses out of uniform registers.
template <class TileT>
class SumCopies {
 public:
  __device__ __forceinline__ SumCopies(const WarpgroupSumParams& p, int first_pixel, int tile_n,
                                       int first_stage)
      : left_of_first_(max(p.first_steps - first_stage, 0)),
        first_(p, p, first_pixel, tile_n, first_stage),
        second_(p, p.second, first_pixel, tile_n, max(first_stage - p.first_steps, 0)) {}

  __device__ __forceinline__ void start_ring(const WarpgroupSumParams& p, const StageRing& ring, int count) {
    SumCopies windows = *this;
    start_ring_filters(p, ring, count);
    windows.start_ring_windows(p, ring, count);
  }
  __device__ __forceinline__ void start_ring_filters(const WarpgroupSumParams& p, const StageRing& ring,
                                                     int count) {
    const int of_first = take_of_first(count);
    first_.start_ring_filters(p, ring, of_first);
    second_.start_ring_filters(p.second, ring, count, of_first);
  }
  __device__ __forceinline__ void start_ring_windows(const WarpgroupSumParams& p, const StageRing& ring,
                                                     int count) {
    const int of_first = take_of_first(count);
    first_.start_ring_windows(p, ring, of_first);
    second_.start_ring_windows(p.second, ring, count, of_first);
  }
  __device__ __forceinline__ void start_stages(const WarpgroupSumParams& p, const StageRing& ring,
                                               RingPlace& place, int end, int first = 0) {
    const int of_first = take_of_first(end - first);
    first_.start_stages(p, ring, place, of_first);
    second_.start_stages(p.second, ring, place, end - first, of_first);
  }

 private:
  /// Returns how many of the next `count` stages belong to the first convolution, and subtracts that number
  /// from left_of_first_.
  __device__ __forceinline__ int take_of_first(int count) {
    const int taken = min(left_of_first_, count);
    left_of_first_ -= taken;
    return taken;
  }

  int left_of_first_;
  StageCopies<TileT> first_;
  StageCopies<TileT> second_;
};

template <class TileT>
using CopiesOf = std::conditional_t<TileT::kSums, SumCopies<TileT>, StageCopies<TileT>>;

/// Prefetches the maps of a sum's second convolution; others have none.
__device__ __forceinline__ void prefetch_second_maps(const WarpgroupParams& /*params*/) {}
__device__ __forceinline__ void prefetch_second_maps(const WarpgroupSumParams& p) {
  ptx::prefetch_map(p.second.filters);
  ptx::prefetch_map(p.second.windows);
}

/// A warpgroup's sums: kFragments fragments of 64 rows of the tile.
template <class T, class TileT>
struct WarpgroupProduct {
  /// Two stages in each iteration of the loop: products of few filters take less time than starting them
  /// does, and more of them overlap than with one stage in each iteration.
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
          // Advances by 32 bytes of the depth per k and by 64 rows per i.
          ptx::multiply<T, TileT::kN>(sums[i], left + k * 2 + i * (64 * kStageRowBytes >> 4), right + k * 2);
        }
      }
      ptx::commit_products();
      ptx::wait_products<1>();  // the previous stage is no longer read
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

  /// Keeps the compiler from moving reads of the sums to
  /// before this point, and so before the wait for products.
  __device__ __forceinline__ void hold() {
#pragma unroll
    for (auto& fragment : sums) {
#pragma unroll
      for (float& sum : fragment) ptx::hold(sum);
    }
  }

  /// The first row of the tile in this thread's sums of fragment 0; the thread's second row is 8 below.
  static __device__ __forceinline__ int first_row() {
    const int thread = static_cast<int>(threadIdx.x);
    return thread / 128 * TileT::kFragments * 64 + thread % 128 / 32 * 16 + thread % 32 / 4;
  }

  float sums[TileT::kFragments][TileT::kN / 2];
};

}  // namespace hone::device::cuda
