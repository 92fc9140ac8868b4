// What the warpgroup GEMM's kernel gets as its parameter, how its shared memory lies, and the table of
// compiled kernels. Internal.
#pragma once

#include <cuda.h>

#include "device/cuda/plugin/kernels/implicit_gemm_params.hpp"
#include "device/cuda/plugin/kernels/warpgroup_gemm.hpp"

namespace hone::device::cuda {

inline constexpr int kStageDepth = 64;                  ///< elements of two bytes
inline constexpr int kStageRowBytes = kStageDepth * 2;  ///< what swizzling takes for a row
inline constexpr int kRingBarrierBytes = 2 * 8;         ///< of a stage

struct WarpgroupParams : TileParams {
  CUtensorMap windows;  ///< im2col map of x
  CUtensorMap filters;  ///< w as [filters][taps][channels]
  CUtensorMap output;   ///< y as [rows][filters], of a stream of tiles
  CUtensorMap operand;  ///< of an addition, as y
  const void* anywhere;
  FastDivisor out_width;
  FastDivisor out_height;
  FastDivisor chunks;  ///< stages of a tap
  int tiles;
  int kernel_w;
  int stride_h;
  int stride_w;
  int pad_top;
  int pad_left;
  int dilation_h;
  int dilation_w;
};

/// Tiles that are compiled: tile_m, tile_n, and the warpgroups that multiply.
struct WarpgroupShape {
  int tile_m;
  int tile_n;
  int groups;
};
inline constexpr WarpgroupShape kWarpgroupShapes[] = {{64, 32, 1},   {64, 64, 1},  {64, 128, 1},
                                                      {128, 32, 2},  {128, 64, 2}, {128, 128, 2},
                                                      {128, 256, 2}, {256, 64, 2}, {256, 128, 2}};

struct WarpgroupKernel {
  int tile_m;
  int tile_n;
  int groups;
  const void* block;   ///< warpgroup_gemm
  const void* stream;  ///< warpgroup_gemm_stream
};
extern const WarpgroupKernel kHalfWarpgroup[];
extern const WarpgroupKernel kBFloat16Warpgroup[];

/// Shared memory of a block in bytes: ring or staged tile, bias, barriers, prefetched operand.
inline int64_t warpgroup_staging_bytes(const WarpgroupConfig& config) {
  const int64_t ring = int64_t{config.stages} * (config.tile_m + config.tile_n) * kStageRowBytes;
  const int64_t tile = int64_t{config.tile_m} * (config.tile_n + kStagePad) * 4;
  return ring > tile ? ring : tile;
}
inline int64_t warpgroup_shared_bytes(const WarpgroupConfig& config, bool prefetch) {
  return warpgroup_staging_bytes(config) + int64_t{config.tile_n} * 4 +
         int64_t{config.stages} * kRingBarrierBytes +
         (prefetch ? int64_t{config.tile_m} * config.tile_n * 2 : 0);
}

/// Of a block that makes a stream of tiles: ring, output, barriers of both.
inline int64_t stream_shared_bytes(const WarpgroupConfig& config, int groups) {
  return int64_t{config.stages} * ((config.tile_m + config.tile_n) * kStageRowBytes + kRingBarrierBytes) +
         int64_t{config.tile_m} * config.tile_n * 2 + 8 + int64_t{groups} * 16;
}

}  // namespace hone::device::cuda
