// The parameter of the kernel of warpgroup_stationary.hpp. Internal.
#pragma once

#include <cuda.h>

#include "device/cuda/plugin/kernels/common/fast_divisor.hpp"
#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_stationary.hpp"

namespace hone::device::cuda {

/// Two warpgroups that multiply, and a warp that copies.
inline constexpr int kStationaryThreads = 2 * 128 + 32;

struct StationaryParams {
  CUtensorMap x;
  const void* filters;
  const float* bias;
  const void* operand;  ///< the operand of an addition, or null
  void* y;
  StreamEpilogue epilogue;
  FastDivisor pitch;          ///< columns from a row of a tile to the next
  FastDivisor strips;         ///< tiles in an image
  FastDivisor filter_groups;  ///< groups of 64 filters
  int width;
  int height;
  int rows;         ///< rows of a tile
  int tiles;        ///< tiles of all images
  int tile_groups;  ///< clusters with the same filters, which share the tiles
  int slab_bytes;
  bool next_waits;
};

}  // namespace hone::device::cuda
