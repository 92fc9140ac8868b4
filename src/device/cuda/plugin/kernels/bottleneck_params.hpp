// What the bottleneck's kernel gets as its parameter, and how its shared memory lies. Internal.
#pragma once

#include <cuda.h>

#include "device/cuda/plugin/kernels/bottleneck.hpp"
#include "device/cuda/plugin/kernels/fast_divisor.hpp"

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
  FastDivisor height;
  int tiles;
  int patch_width;
  bool next_waits;
};

/// Byte offsets of a block's shared memory. A slab is 64 rows (filters or pixels) of 64 channels, swizzled by
/// 128 bytes.
template <int kNext, bool kProjects>
struct BottleneckMemory {
  static constexpr int kRowBytes = 128;
  static constexpr int kSlab = 64 * kRowBytes;
  static constexpr int kTaps = 9;
  static constexpr int kChunks = Bottleneck::kWide / 64;
  /// Of the expanded tile, which the shortcut is added to in place where it is an image; or of two chunks on
  /// their way out.
  static constexpr int kSlabs = kProjects ? 2 : kChunks;
  static constexpr int kNextSlab = kNext * kRowBytes;
  /// Three rows of up to 66 pixels. The last window's matrix ends 2 * 66 + 2 + 64 rows behind the first.
  static constexpr int kPatchBytes = 200 * kRowBytes;
  static constexpr int kBiases = 64 + Bottleneck::kWide + kNext;
  static constexpr int kBarriers = 8;

  static constexpr int kWindowAt = 0;
  static constexpr int kExpandAt = kWindowAt + kTaps * kSlab;
  static constexpr int kNextAt = kExpandAt + kChunks * kSlab;
  static constexpr int kProjectionAt = kNextAt + kChunks * kNextSlab;
  static constexpr int kPatchAt = kProjectionAt + (kProjects ? kChunks * kSlab : 0);
  static constexpr int kShortcutAt = kPatchAt + kPatchBytes;  ///< what is projected
  static constexpr int kSlabsAt = kShortcutAt + (kProjects ? kSlab : 0);
  static constexpr int kBiasAt = kSlabsAt + kSlabs * kSlab;
  static constexpr int kBarrierAt = kBiasAt + kBiases * 4;
  static constexpr int kBytes = kBarrierAt + kBarriers * 8;
  static constexpr int kMostBytes = 227 * 1024;
  static_assert(kBytes <= kMostBytes && kPatchBytes % 1024 == 0 && kNext / 64 <= kSlabs);
};

}  // namespace hone::device::cuda
