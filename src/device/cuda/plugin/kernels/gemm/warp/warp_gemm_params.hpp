// The parameter of the kernel of warp_gemm.hpp, and which kernels are compiled. Internal.
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
  FastDivisor filter_groups;  ///< of 32
  int rows;
  int channels;
  int filters;
  int strips;  ///< tiles of the same filters that are made at once
  bool next_waits;
};

inline constexpr int kWarpGemmChunk = 32;  ///< channels that a warp multiplies at once
inline constexpr int kWarpGemmWarps = 4;   ///< of a block

struct WarpGemmShape {
  int tile_m;
  int chunks;  ///< of the depth
};
inline constexpr WarpGemmShape kWarpGemmShapes[] = {{32, 1}, {32, 2}, {16, 1}, {16, 2}, {16, 3}, {16, 5}};

/// Compiled kernels of kWarpGemmShapes[shape]. One function a source file, so that the compiler's work is
/// spread.
const void* half_warp_gemm(size_t shape, StreamKind kind);
const void* bfloat16_warp_gemm(size_t shape, StreamKind kind);

}  // namespace hone::device::cuda
