// The kernel parameter of the warpgroup GEMM, the layout of its shared memory, and the tables of compiled
// kernels. Internal.
#pragma once

#include <cuda.h>

#include <array>
#include <iterator>

#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_params.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm.hpp"

namespace hone::device::cuda {

inline constexpr int kStageDepth = 64;                  ///< elements of two bytes
inline constexpr int kStageRowBytes = kStageDepth * 2;  ///< the row length for swizzling
inline constexpr int kRingBarrierBytes = 2 * 8;         ///< for one stage
inline constexpr int kMostSharedBytes = 232448;         ///< limit for a block, compute capability 9.0

/// The tensor maps of a convolution's operands.
struct SourceMaps {
  CUtensorMap windows;  ///< im2col map of x
  CUtensorMap filters;  ///< w as [filters][taps][channels]
};

/// The geometry of a convolution's windows.
struct SourceWindows {
  int kernel_w;
  int stride_h;
  int stride_w;
  int pad_top;
  int pad_left;
  int dilation_h;
  int dilation_w;
};

struct WarpgroupParams : TileParams, SourceMaps {
  CUtensorMap output;   ///< y as [rows][filters]; only for a stream of tiles
  CUtensorMap operand;  ///< the operand of an addition, with the layout of y
  const void* anywhere;
  FastDivisor out_width;
  FastDivisor out_height;
  FastDivisor chunks;  ///< stages in a tap
  StreamEpilogue stream;
  int tiles;
  SourceWindows geometry;
};

/// The second convolution of a sum; its members have the names that WarpgroupParams uses for the first.
struct SecondSource : SourceMaps {
  FastDivisor chunks;
  SourceWindows geometry;
};

/// The parameter of a sum of two convolutions. Its depth is
/// that of the first, followed by that of the second.
struct WarpgroupSumParams : WarpgroupParams {
  SecondSource second;
  int first_steps;  ///< stages in the depth of the first convolution
};

/// Compiled tiles: tile_m, tile_n, and the number of warpgroups that multiply.
struct WarpgroupShape {
  int tile_m;
  int tile_n;
  int groups;
};
inline constexpr WarpgroupShape kWarpgroupShapes[] = {{64, 32, 1},   {64, 64, 1},  {64, 128, 1},
                                                      {128, 32, 2},  {128, 64, 2}, {128, 128, 2},
                                                      {128, 256, 2}, {256, 64, 2}, {256, 128, 2}};

/// Compiled kernels in the order of kWarpgroupShapes; null for tiles that never fit.
using WarpgroupTable = std::array<const void*, std::size(kWarpgroupShapes)>;
// One table in each source file, so that compilation runs in parallel.
// Names give the element, then warpgroup_gemm, warpgroup_gemm_split or the
// kind of warpgroup_gemm_stream. Sums of convolutions have at most bounds.
extern const WarpgroupTable kHalfBlock;
extern const WarpgroupTable kHalfSplit;
extern const WarpgroupTable kHalfSplitSteps;
extern const WarpgroupTable kHalfBounds;
extern const WarpgroupTable kHalfAdd;
extern const WarpgroupTable kHalfSwish;
extern const WarpgroupTable kHalfGelu;
extern const WarpgroupTable kHalfGeluTanh;
extern const WarpgroupTable kHalfHardSwish;
extern const WarpgroupTable kHalfLeaky;
extern const WarpgroupTable kHalfSum;
extern const WarpgroupTable kHalfSumSplit;
extern const WarpgroupTable kBFloat16Block;
extern const WarpgroupTable kBFloat16Split;
extern const WarpgroupTable kBFloat16SplitSteps;
extern const WarpgroupTable kBFloat16Bounds;
extern const WarpgroupTable kBFloat16Add;
extern const WarpgroupTable kBFloat16Swish;
extern const WarpgroupTable kBFloat16Gelu;
extern const WarpgroupTable kBFloat16GeluTanh;
extern const WarpgroupTable kBFloat16HardSwish;
extern const WarpgroupTable kBFloat16Leaky;
extern const WarpgroupTable kBFloat16Sum;
extern const WarpgroupTable kBFloat16SumSplit;

/// The number of stages in the depth of a convolution whose extents are valid.
int64_t warpgroup_depth_steps(const ConvProblem& problem);

/// Variants for a depth of `depth_steps` stages, which includes
/// the depths of other convolutions in the same sum.
Refusal warpgroup_refusal(const ConvProblem& problem, const WarpgroupConfig& config,
                          const DeviceProperties& device, int64_t depth_steps);
std::vector<WarpgroupConfig> warpgroup_configs(const ConvProblem& problem, const DeviceProperties& device,
                                               size_t limit, int64_t depth_steps);

/// Bytes of a block's shared memory. First comes the ring. The staged tile overwrites it, or the sums that a
/// cluster sends follow it. Then come the bias (if a block has one tile), the barriers of stages and received
/// rows, and the prefetched operand.
constexpr int64_t warpgroup_staging_bytes(const WarpgroupConfig& config) {
  const int64_t ring = int64_t{config.stages} * (config.tile_m + config.tile_n) * kStageRowBytes;
  const int64_t tile = int64_t{config.tile_m} * (config.tile_n + kStagePad) * 4;
  if (config.parts > 1) return ring + tile;
  return ring > tile ? ring : tile;
}
constexpr int64_t warpgroup_shared_bytes(const WarpgroupConfig& config, bool prefetch) {
  return warpgroup_staging_bytes(config) + int64_t{config.tile_n} * 4 +
         (int64_t{config.stages} + 1) * kRingBarrierBytes +
         (prefetch ? int64_t{config.tile_m} * config.tile_n * 2 : 0);
}

/// Bytes of shared memory of a block that computes a stream of tiles: ring, output, and the barriers of both.
inline int64_t stream_shared_bytes(const WarpgroupConfig& config, int groups) {
  return int64_t{config.stages} * ((config.tile_m + config.tile_n) * kStageRowBytes + kRingBarrierBytes) +
         int64_t{config.tile_m} * config.tile_n * 2 + 8 + int64_t{groups} * 16;
}

}  // namespace hone::device::cuda
