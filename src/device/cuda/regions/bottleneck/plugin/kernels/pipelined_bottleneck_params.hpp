// The parameter of the pipelined bottleneck's kernel, and how its shared memory lies. Internal.
#pragma once

#include <cuda.h>

#include "device/cuda/plugin/kernels/common/fast_divisor.hpp"
#include "device/cuda/regions/bottleneck/plugin/kernels/pipelined_bottleneck.hpp"

namespace hone::device::cuda {

struct PipelinedBottleneckParams {
  CUtensorMap x;
  CUtensorMap shortcut;
  CUtensorMap projection;
  CUtensorMap next;  ///< where its filters are in shared memory
  CUtensorMap wide;
  CUtensorMap narrow;
  const void* window_filters;
  const void* expand_filters;
  const void* next_filters;  ///< where they are in registers
  const float* window_bias;
  const float* expand_bias;
  const float* next_bias;
  const float* projection_bias;
  StreamEpilogue window_bounds;
  StreamEpilogue wide_bounds;
  StreamEpilogue narrow_bounds;
  FastDivisor segments;  ///< tiles of a row
  FastDivisor rows;      ///< of an image
  int tiles;
  int patch_width;
  bool next_waits;
};

/// Byte offsets of a block's shared memory. A slab is a tile's pixels of 64 channels, swizzled by 128 bytes.
template <int kNext, bool kProjects>
struct PipelineMemory {
  static constexpr int kRowBytes = 128;
  static constexpr int kPixels = static_cast<int>(PipelinedBottleneck::kTilePixels);
  static constexpr int kSlab = kPixels * kRowBytes;
  static constexpr int kChunks = static_cast<int>(Bottleneck::kWide) / 64;
  /// Three rows of up to 58 pixels. The last window's matrix ends 2 * 58 + 2 + 56 rows after the first.
  static constexpr int kPatchBytes = 176 * kRowBytes;
  /// The filters of one convolution that registers have no room for, 64 of their depth a slab.
  static constexpr bool kNextInRegisters = PipelinedBottleneck::next_in_registers(kNext);
  static constexpr int kFilterSlab = kNextInRegisters ? 64 * kRowBytes : kNext * kRowBytes;
  static constexpr int kFilters = kProjects || !kNextInRegisters ? kChunks * kFilterSlab : 0;
  /// How many tiles may lie between two warpgroups. A set is what is added, and the wide image in its place.
  static constexpr int kPatches = kNextInRegisters ? 3 : 2;
  static constexpr int kSets = kFilters == 0 ? 3 : 2;
  static constexpr int kMiddles = 2;
  static constexpr int kNarrows = 2;
  static constexpr int kSetBytes = (kChunks + (kProjects ? 1 : 0)) * kSlab;
  static constexpr int kNarrowBytes = kNext / 64 * kSlab;

  static constexpr int kFiltersAt = 0;
  static constexpr int kPatchesAt = kFiltersAt + kFilters;
  static constexpr int kSetsAt = kPatchesAt + kPatches * kPatchBytes;
  static constexpr int kMiddlesAt = kSetsAt + kSets * kSetBytes;
  static constexpr int kNarrowsAt = kMiddlesAt + kMiddles * kSlab;
  static constexpr int kBarrierAt = kNarrowsAt + kNarrows * kNarrowBytes;
  static constexpr int kBarriers = 1 + 2 * kPatches + 2 * kMiddles + (2 + kChunks) * kSets + 2 * kNarrows;
  static constexpr int kBytes = kBarrierAt + kBarriers * 8;
  static constexpr int kMostBytes = 227 * 1024;
  static_assert(kBytes <= kMostBytes && kPatchBytes % 1024 == 0 && kSlab % 1024 == 0);
};

}  // namespace hone::device::cuda
