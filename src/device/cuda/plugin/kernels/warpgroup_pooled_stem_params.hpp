// What the kernel of pooled stems gets as its parameter. Internal.
#pragma once

#include "device/cuda/plugin/kernels/stem_planes.hpp"
#include "device/cuda/plugin/kernels/stream_epilogue.hpp"

namespace hone::device::cuda {

/// Filters of a tile: rows of the left matrix.
inline constexpr int kPooledStemFilters = 64;
inline constexpr int kPooledStemThreads = 128;
/// Windows of seven rows of eight taps of four channels: 32 elements a row, two steps of the depth.
inline constexpr int kPooledStemRows = 7;
inline constexpr int kPooledStemSteps = 2 * kPooledStemRows;

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
  /// Of a multiprocessor, as far as registers go: blocks hide what the others wait for.
  static constexpr int kBlocks = kPooledRows > 4 ? 2 : 3;
  /// The pool's outputs in shared memory: places for eight columns, of 64 filters each, and for as many rows
  /// as a convolution of them multiplies.
  static constexpr int kPixelBytes = kPooledStemFilters * 2;
  static constexpr int kRowBytes = 8 * kPixelBytes;
  static constexpr int kPlaceRows = kPooledRows <= 4 ? 4 : 8;
  static constexpr int kBytes = kPlaceRows * kRowBytes;
  static constexpr StemTiles kTiles = {kRows, kColumns, kPooledStemFilters, kPooledRows, kPooledColumns};
};

/// Of the convolution of 1 x 1 behind the pool, 64 channels to 64: steps of its depth, and bytes of its
/// filters.
inline constexpr int kStemNextSteps = kPooledStemFilters / 16;
inline constexpr int kStemNextBytes = kPooledStemFilters * kPooledStemFilters * 2;

struct PooledStemParams : StemPlanes {
  StreamEpilogue finish;
  StemNext next;  ///< pointers are null where there is none
  const void* w;  ///< StemOrder::kFragments
  const float* bias;
  void* y;
  int filters;
  // Bytes from the start of shared memory, where a tile's outputs lie.
  int patch_at;
  int patch_bytes;  ///< of each of two
  int planes_at;
  int next_at;  ///< filters of the next convolution
  int barrier_at;
  bool next_waits;
};

}  // namespace hone::device::cuda
