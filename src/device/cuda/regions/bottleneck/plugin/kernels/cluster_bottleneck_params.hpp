// The parameter of the kernel of a bottleneck in a cluster, and how its blocks' shared memory lies. Internal.
#pragma once

#include <cuda.h>

#include <algorithm>

#include "device/cuda/plugin/kernels/common/fast_divisor.hpp"
#include "device/cuda/regions/bottleneck/plugin/kernels/cluster_bottleneck.hpp"

namespace hone::device::cuda {

/// Shared memory of a block after a kernel of another kind. Clusters would share multiprocessors, each with
/// the other or with itself, while others stay idle; of such blocks a multiprocessor holds one. The next
/// kernel's clusters find one place beside each then.
inline constexpr int64_t kClusterAloneBytes = int64_t{114} * 1024;
/// The most such blocks that run at once, which an image of ResNet's stages has: an H100 holds seven clusters
/// of 16 so, and 30 of 4 (docs/performance/h200-layers.md). More would take turns, and are left to share
/// multiprocessors.
inline constexpr int64_t kMostAloneBlocks = 112;

struct ClusterBottleneckParams {
  CUtensorMap x;
  CUtensorMap shortcut;
  CUtensorMap wide;
  const void* window;
  const void* expand;
  const void* next;
  const float* window_bias;
  const float* expand_bias;
  const float* next_bias;
  void* narrow;
  StreamEpilogue window_bounds;
  StreamEpilogue wide_bounds;
  StreamEpilogue narrow_bounds;
  FastDivisor strips;  ///< of an image
  FastDivisor pitch;   ///< pixels of a row of a tile, with the two that lie beside it
  int rows;            ///< of a tile
  int width;
  int height;
  bool next_waits;
};

/// Byte offsets of a block's shared memory. A slab is rows (filters or pixels) of 64 channels, swizzled by
/// 128 bytes.
template <int kChannels, bool kNarrows>
struct ClusterBottleneckMemory {
  static constexpr int kPieces = kChannels / 64;
  static constexpr int kCluster = kPieces * kPieces;
  static constexpr int kRowBytes = 128;
  static constexpr int kPixels = ClusterBottleneck::kTilePixels;
  /// Channels behind the expansion that a block makes, and of the other two convolutions those that it
  /// finishes.
  static constexpr int kExpanded = 4 * kChannels / kCluster;
  static constexpr int kFinished = 64 / kPieces;
  static constexpr int kWideSlabs = kExpanded / 64;

  static constexpr int kFragmentBytes = 64 * 16 * 2;  ///< 64 filters, 16 of their depth
  /// Sizes of the block's filters of 3 x 3, which pass through the beginning of its memory.
  static constexpr int kWindowBytes = 2 * 18 * kFragmentBytes;
  static constexpr int kExpandBytes = kExpanded * kChannels * 2;
  static constexpr int kNextBytes = kNarrows ? kExpandBytes : 0;
  static constexpr int kPatchBytes = static_cast<int>(ClusterBottleneck::patch_rows(kChannels)) * kRowBytes;
  /// A slab of the tile's pixels, and of two more that no image has: the shortcut, then replaced by the sum.
  static constexpr int kWideSlab = 40 * kRowBytes;
  /// The window's result, not swizzled: eight channels of all pixels lie in a row.
  static constexpr int kEight = kPixels * 16;
  /// Sums of kFinished channels: of the window by two warpgroups of kPieces blocks, of the next convolution
  /// by all blocks.
  static constexpr int kPart = kFinished * kPixels * 4;
  static constexpr int kWindowParts = 2 * kPieces;
  static constexpr int kBiases = 2 * kFinished + kExpanded;
  static constexpr int kBarriers = 7;

  static constexpr int kExpandAt = 0;
  /// In the place of the expansion's filters, once no block wants these any more.
  static constexpr int kNextPartsAt = kExpandAt;
  static constexpr int kNextAt = kExpandAt + kExpandBytes;
  static constexpr int kPatchAt = kNextAt + kNextBytes;
  static constexpr int kWideAt = kPatchAt + kPatchBytes;
  /// Other blocks send the data here and after it, whether this one has taken its filters of 3 x 3 or not.
  static constexpr int kMiddleAt = std::max(kWideAt + kWideSlabs * kWideSlab, kWindowBytes);
  static constexpr int kWindowPartsAt = kMiddleAt + kChannels / 8 * kEight;
  static constexpr int kBiasAt = kWindowPartsAt + kWindowParts * kPart;
  static constexpr int kBarrierAt = kBiasAt + kBiases * 4;
  static constexpr int kBytes = kBarrierAt + kBarriers * 8;
  /// So that a multiprocessor, which has 228 KB and gives each block 1 KB more, holds a block of the next
  /// kernel, which brings its filters, next to one that takes kClusterAloneBytes.
  static constexpr int kMostBytes = 112 * 1024;
  static constexpr int kMultiprocessorBytes = 228 * 1024;
  static constexpr int kReservedBytes = 1024;
  static_assert(kClusterAloneBytes + kMostBytes + 2 * kReservedBytes <= kMultiprocessorBytes);
  static_assert(2 * (kClusterAloneBytes + kReservedBytes) > kMultiprocessorBytes);
  static_assert(kBytes <= kMostBytes && kCluster * kPart <= kExpandBytes);
  static_assert(kPatchBytes % 1024 == 0 && kWideSlab % 1024 == 0);
};

}  // namespace hone::device::cuda
