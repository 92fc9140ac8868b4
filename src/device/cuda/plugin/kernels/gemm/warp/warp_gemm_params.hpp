// The parameter of the kernel of warp_gemm.hpp, and the list of compiled kernels. Internal.
#pragma once

#include "device/cuda/plugin/kernels/common/fast_divisor.hpp"
#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"

namespace hone::device::cuda {

struct WarpGemmParams {
  const void* x;
  const void* w;
  const float* bias;
  const void* operand;  ///< of an addition, or null
  void* y;
  StreamEpilogue epilogue;
  FastDivisor filter_groups;  ///< groups of 32 filters
  int rows;
  int channels;
  int filters;
  int strips;  ///< tiles with the same filters that are computed at once
  bool next_waits;
};

inline constexpr int kWarpGemmChunk = 32;  ///< channels that a warp multiplies at once
inline constexpr int kWarpGemmWarps = 4;   ///< warps of a block

struct WarpGemmShape {
  int tile_m;
  int chunks;  ///< chunks of kWarpGemmChunk channels in the depth
};
inline constexpr WarpGemmShape kWarpGemmShapes[] = {{32, 1}, {32, 2}, {16, 1}, {16, 2}, {16, 3}, {16, 5}};

/// The compiled kernel for kWarpGemmShapes[shape]. One function
/// in each source file, so that compilation runs in parallel.
const void* half_warp_gemm(size_t shape, StreamKind kind);
const void* bfloat16_warp_gemm(size_t shape, StreamKind kind);

}  // namespace hone::device::cuda
