// Tiles, shared memory and the tables of compiled kernels of warpgroup_pooled.hpp. Internal.
#pragma once

#include <array>
#include <cstdint>

#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_params.hpp"

namespace hone::device::cuda {

inline constexpr int kPooledRows = 64;               ///< rows of a tile, and so the most pixels of an image
inline constexpr int kPooledThreads = 128 + 2 * 32;  ///< a warpgroup that multiplies, two warps that copy
inline constexpr std::array kPooledTiles = {32, 64, 128};  ///< filters of a tile

/// Compiled kernels in the order of kPooledTiles, for the first kinds of StreamKind.
using PooledKernels = std::array<const void*, kPooledTiles.size()>;
using PooledTable = std::array<PooledKernels, 4>;
extern const PooledTable kHalfPooled;
extern const PooledTable kBFloat16Pooled;

/// Bytes of a block's shared memory: the ring, its barriers, and the sums of four warps for two tiles.
constexpr int64_t pooled_shared_bytes(const WarpgroupConfig& config) {
  return int64_t{config.stages} * ((config.tile_m + config.tile_n) * kStageRowBytes + kRingBarrierBytes) +
         int64_t{config.tile_n} * 2 * 4 * 4;
}

}  // namespace hone::device::cuda
