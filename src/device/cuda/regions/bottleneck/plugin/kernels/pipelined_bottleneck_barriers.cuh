// The warps of a pipelined bottleneck's block, what they wait for, and what a tile is.
#pragma once

#include "device/cuda/plugin/kernels/common/wgmma.cuh"
#include "device/cuda/regions/bottleneck/plugin/kernels/pipelined_bottleneck_params.hpp"

namespace hone::device::cuda {

/// Warps of a block, in order: three warpgroups, and the warps that copy and store.
struct PipelineWarps {
  static constexpr int kPatchCopier = 12;
  static constexpr int kSetCopier = 13;
  static constexpr int kWideStorer = 14;
  static constexpr int kNarrowStorer = 15;
  static constexpr int kThreads = 512;
  /// A thread's, all of a multiprocessor's in sum.
  static constexpr int kWindowRegisters = 200;
  static constexpr int kExpandRegisters = 160;
  static constexpr int kNarrowRegisters = 120;
  static constexpr int kCopierRegisters = 32;
  static_assert((kWindowRegisters + kExpandRegisters + kNarrowRegisters + kCopierRegisters) * 128 == 65536);
};

/// Each ring has a barrier for its places that are full and one for those that are empty. At those of a place
/// that a warpgroup fills or leaves its four warps arrive, at others one thread that copies or has stored; a
/// set is left by both. A middle is what the 3 x 3 convolution gives.
template <class Memory>
struct PipelineBarriers {
  uint32_t start;
  __device__ __forceinline__ uint32_t filters() const { return at(0); }
  __device__ __forceinline__ uint32_t patch_full(int i) const { return at(1 + i); }
  __device__ __forceinline__ uint32_t patch_empty(int i) const { return at(1 + Memory::kPatches + i); }
  __device__ __forceinline__ uint32_t middle_full(int i) const { return at(kMiddleBarriers + i); }
  __device__ __forceinline__ uint32_t middle_empty(int i) const {
    return at(kMiddleBarriers + Memory::kMiddles + i);
  }
  __device__ __forceinline__ uint32_t narrow_full(int i) const { return at(kNarrowBarriers + i); }
  __device__ __forceinline__ uint32_t narrow_empty(int i) const {
    return at(kNarrowBarriers + Memory::kNarrows + i);
  }
  /// Barriers for: the shortcut has come; a chunk of the wide image has replaced it; that has been read.
  __device__ __forceinline__ uint32_t set_full(int i) const { return at(kSetBarriers + i); }
  __device__ __forceinline__ uint32_t set_empty(int i) const { return at(kSetBarriers + Memory::kSets + i); }
  __device__ __forceinline__ uint32_t wide(int i, int chunk) const {
    return at(kSetBarriers + (2 + chunk) * Memory::kSets + i);
  }

  /// Called by one thread.
  __device__ __forceinline__ void init() const {
    ptx::init_barrier(filters(), 1);
    for (int i = 0; i < Memory::kPatches; ++i) {
      ptx::init_barrier(patch_full(i), 1);
      ptx::init_barrier(patch_empty(i), 4);
    }
    for (int i = 0; i < Memory::kMiddles; ++i) {
      ptx::init_barrier(middle_full(i), 4);
      ptx::init_barrier(middle_empty(i), 4);
    }
    for (int i = 0; i < Memory::kNarrows; ++i) {
      ptx::init_barrier(narrow_full(i), 4);
      ptx::init_barrier(narrow_empty(i), 1);
    }
    for (int i = 0; i < Memory::kSets; ++i) {
      ptx::init_barrier(set_full(i), 1);
      ptx::init_barrier(set_empty(i), 4 + 1);
      for (int chunk = 0; chunk < Memory::kChunks; ++chunk) ptx::init_barrier(wide(i, chunk), 4);
    }
    ptx::fence_barriers();
  }

 private:
  static constexpr int kMiddleBarriers = 1 + 2 * Memory::kPatches;
  static constexpr int kNarrowBarriers = kMiddleBarriers + 2 * Memory::kMiddles;
  static constexpr int kSetBarriers = kNarrowBarriers + 2 * Memory::kNarrows;
  __device__ __forceinline__ uint32_t at(int i) const { return start + 8 * i; }
};

/// Some pixels of a row, from (x, y) of an image on.
struct PipelineTile {
  int x;
  int y;
  int image;

  __device__ __forceinline__ PipelineTile(const PipelinedBottleneckParams& p, int tile) {
    const int row = static_cast<int>(p.segments.divide(tile));
    x = (tile - row * static_cast<int>(p.segments.divisor)) *
        static_cast<int>(PipelinedBottleneck::kTilePixels);
    image = static_cast<int>(p.rows.divide(row));
    y = row - image * static_cast<int>(p.rows.divisor);
  }
};

}  // namespace hone::device::cuda
