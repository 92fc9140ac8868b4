// The parameter of the kernel of stems for warpgroups. Internal.
#pragma once

#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_epilogue.hpp"
#include "device/cuda/regions/stem/plugin/kernels/stem_planes.hpp"

namespace hone::device::cuda {

/// Outputs of the convolution in a tile, in both directions.
inline constexpr int kStemTile = 16;
/// Outputs of the pool in a tile, in both directions: windows of three, two apart, in 15 of the 16.
inline constexpr int kPooledTile = 7;

struct WarpgroupStemParams : StemPlanes {
  CUtensorMap output;  ///< y as [images][rows][columns][filters]; where nothing is pooled
  EpilogueParams epilogue;
  StreamEpilogue finish;
  const void* w;
  int kernel_h;
  int row_steps;  ///< of 16 along the depth, in a window's row
  // Bytes from the start of shared memory, where a tile's outputs lie.
  int weights_at;
  int patch_at;
  int planes_at;
  int barrier_at;
  bool next_waits;
};

}  // namespace hone::device::cuda
