// The parameter of the bottleneck's kernel, and how its shared memory lies. Internal.
#pragma once

#include <cuda.h>

#include "device/cuda/plugin/kernels/common/fast_divisor.hpp"
#include "device/cuda/regions/bottleneck/plugin/kernels/bottleneck.hpp"

namespace hone::device::cuda {

struct BottleneckParams {
  CUtensorMap x;
  CUtensorMap shortcut;
  CUtensorMap window;
  CUtensorMap expand;
  CUtensorMap next;
  CUtensorMap projection;
  CUtensorMap wide;
  CUtensorMap narrow;
  const float* window_bias;
  const float* expand_bias;
  const float* next_bias;
  const float* projection_bias;
  StreamEpilogue window_bounds;
  StreamEpilogue wide_bounds;
  StreamEpilogue narrow_bounds;
  FastDivisor segments;  ///< tiles of a row
  FastDivisor strips;    ///< of an image: one or two rows that a block makes at once
  int steps;             ///< strips of all images, times segments
  int patch_width;
  bool next_waits;
};

/// Byte offsets of a block's shared memory. A slab is 64 rows (filters or pixels) of 64 channels, swizzled by
/// 128 bytes.
template <int kNext, bool kProjects, int kGroups>
struct BottleneckMemory {
  static constexpr int kRowBytes = 128;
  static constexpr int kSlab = 64 * kRowBytes;
  static constexpr int kTaps = 9;
  static constexpr int kChunks = Bottleneck::kWide / 64;
  static constexpr int kNextSlab = kNext * kRowBytes;
  /// Rows of up to 66 pixels. The last window's matrix ends (kGroups + 1) * 66 + 2 + 64 rows after the first.
  static constexpr int kPatchBytes = (kGroups == 1 ? 200 : 264) * kRowBytes;
  static constexpr int kBiases = 64 + Bottleneck::kWide + kNext;
  /// Slabs of pixels: what is projected, what a tile's chunks are added to, in place, and its results on
  /// their way out. Two warpgroups share as many as fit.
  static constexpr int kOwnSlabs = kProjects ? 3 : kChunks;
  static constexpr int kSharedSlabs = kProjects || kNext == 128 ? 3 : 7;
  static constexpr int kSlabs = kGroups == 1 ? kOwnSlabs : kSharedSlabs;
  static constexpr int kBarriers = 7 + 3 * kSlabs;

  static constexpr int kWindowAt = 0;
  static constexpr int kExpandAt = kWindowAt + kTaps * kSlab;
  static constexpr int kNextAt = kExpandAt + kChunks * kSlab;
  static constexpr int kProjectionAt = kNextAt + kChunks * kNextSlab;
  static constexpr int kPatchAt = kProjectionAt + (kProjects ? kChunks * kSlab : 0);
  static constexpr int kSlabsAt = kPatchAt + kPatchBytes;
  static constexpr int kBiasAt = kSlabsAt + kSlabs * kSlab;
  static constexpr int kBarrierAt = kBiasAt + kBiases * 4;
  static constexpr int kBytes = kBarrierAt + kBarriers * 8;
  static constexpr int kMostBytes = 227 * 1024;
  static_assert(kBytes <= kMostBytes && kPatchBytes % 1024 == 0);

  /// The slabs that a warpgroup takes for a tile, in this order: what is projected; the chunks; narrow.
  /// Copies fill the first kFilled.
  static constexpr int kProjected = kProjects ? 1 : 0;
  static constexpr int kFilled = kProjects ? 1 : kChunks;
  static constexpr int kTaken = kProjected + kChunks + kNext / 64;
};

}  // namespace hone::device::cuda
