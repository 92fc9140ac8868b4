// What the kernel of stems for warpgroups gets as its parameter. Internal.
#pragma once

#include <cuda.h>

#include "device/cuda/plugin/kernels/gemm_epilogue.hpp"
#include "device/cuda/plugin/kernels/stream_epilogue.hpp"

namespace hone::device::cuda {

/// Outputs of the convolution in a tile, in both directions.
inline constexpr int kStemTile = 16;
/// The same of the pool: windows of three, two apart, in 15 of the 16.
inline constexpr int kPooledTile = 7;
/// The copy unit begins a row at a multiple of 16 bytes: four floats.
inline constexpr int kStemColumns = 4;

struct WarpgroupStemParams {
  CUtensorMap image;   ///< [images][channels][rows][columns] of float32
  CUtensorMap output;  ///< y as [images][rows][columns][filters]; where nothing is pooled
  EpilogueParams epilogue;
  StreamEpilogue finish;
  const void* w;
  FastDivisor tiles_n;
  FastDivisor tiles_x;
  FastDivisor tiles_y;
  int tiles_m;
  int tile_step;  ///< outputs of the convolution from one tile to the next
  int first_y;    ///< where the tiles begin in the outputs of the convolution: -1 under a padded pool
  int first_x;
  int out_height;
  int out_width;
  int pooled_height;
  int pooled_width;
  int image_channels;
  int kernel_h;
  int row_steps;  ///< of 16 along the depth, in a window's row
  int stride_h;
  int stride_w;
  int pad_top;
  int pad_left;
  int patch_height;
  int patch_width;
  // Bytes from the start of shared memory, where a tile's outputs lie.
  int weights_at;
  int patch_at;
  int planes_at;
  int barrier_at;
  bool next_waits;
};

}  // namespace hone::device::cuda
