// The parameter of the kernel of pooled stems. Internal.
#pragma once

#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"
#include "device/cuda/regions/stem/plugin/kernels/stem_planes.hpp"

namespace hone::device::cuda {

/// Filters of a tile: rows of the left matrix.
inline constexpr int kPooledStemFilters = 64;
/// Windows of seven rows of eight taps of four channels: 32 elements a row, two steps of the depth.
inline constexpr int kPooledStemRows = 7;
inline constexpr int kPooledStemSteps = 2 * kPooledStemRows;

/// The warpgroups of a block: one that lays out pixels, and those that multiply and pool.
struct PooledStemGroups {
  static constexpr int kMultiply = 2;
  static constexpr int kThreads = 128 * (1 + kMultiply);
  /// For each that multiplies: its planes and its patch, full and empty, and the turns of its four warps.
  static constexpr int kBarriers = (3 + 4) * kMultiply;
  /// A thread's: those that a block is launched with, handed over. More would be waited for for ever.
  static constexpr int kLaunchRegisters = 65536 / kThreads / 8 * 8;
  static constexpr int kLayOutRegisters = 72;
  static constexpr int kMultiplyRegisters = 216;
  static_assert(kLayOutRegisters + kMultiply * kMultiplyRegisters <= (1 + kMultiply) * kLaunchRegisters);
};

/// A tile's outputs of the convolution, for kPooledRows x 7 of the pool. Columns are two halves of eight,
/// each the right matrix of a product of its own, since eight neighbouring rows of that lie as far apart as
/// the next eight; the last of them is under no window.
template <int kPooledRows_>
struct PooledStemTile {
  static constexpr int kPooledRows = kPooledRows_;
  static constexpr int kPooledColumns = 7;
  static constexpr int kRows = 2 * kPooledRows + 1;
  static constexpr int kColumns = 16;
  static constexpr int kN = kRows * kColumns / 2;  ///< columns of a product
  /// The pool's outputs in shared memory, 64 filters of a pixel in a row, and places for one more of each
  /// row, which a convolution of them multiplies.
  static constexpr int kPixelBytes = kPooledStemFilters * 2;
  static constexpr int kPlaces = kPooledRows * (kPooledColumns + 1);
  static constexpr int kBytes = kPlaces * kPixelBytes;
  static_assert(kBytes % 1024 == 0);
  static constexpr StemTiles kTiles = {kRows, kColumns, kPooledStemFilters, kPooledRows, kPooledColumns};
};

/// Sizes for the convolution of 1 x 1 after the pool, 64 channels to 64: steps of its depth, and bytes of its
/// filters.
inline constexpr int kStemNextSteps = kPooledStemFilters / 16;
inline constexpr int kStemNextBytes = kPooledStemFilters * kPooledStemFilters * 2;

struct PooledStemParams : StemPlanes {
  StreamEpilogue finish;
  StemNext next;       ///< pointers are null where there is none
  CUtensorMap pooled;  ///< what the pool gives
  CUtensorMap behind;  ///< and what the next convolution does
  const void* w;       ///< StemOrder::kFragments
  const float* bias;
  // Bytes from the start of shared memory, where the outputs of the warpgroups that multiply lie; each has a
  // patch, planes, and filters of the next convolution as well.
  int patch_at;
  int patch_bytes;
  int planes_at;
  int planes_bytes;
  int next_at;
  int barrier_at;
  bool next_waits;
};

}  // namespace hone::device::cuda
