// The kernel parameter of the GEMM of bytes, and the tables of compiled kernels. Internal.
#pragma once

#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_params.hpp"

namespace hone::device::cuda {

/// The parameters for the end of a product, from its sums to its result.
struct ByteEnding {
  const float* scales;
  const float* bias;
  ByteFinish finish;
  uint32_t flip;          ///< XORed with four unsigned bytes, gives the bytes of y
  uint32_t operand_flip;  ///< XORed with four bytes of the operand, gives unsigned ones ...
  float operand_offset;   ///< ... and this is the offset of those
  bool has_operand;
};

/// Tensor maps see two bytes as one element, so that stages and their copies are the same as in the warpgroup
/// GEMM for elements of two bytes.
struct ByteParams : WarpgroupParams {
  ByteEnding ending;
  const void* floats;  ///< an operand of floats, or null
  bool unsigned_x;
};

/// The parameter of a sum of two products. Its sources are in the order of multiplication: first the product
/// whose bytes are the operand of the second one.
struct ByteSumParams : WarpgroupSumParams {
  ByteEnding operand_ending;
  ByteEnding ending;
  bool unsigned_x;
  bool unsigned_second_x;
};

/// Bytes of a tile's finished rows in shared memory: slabs of up to 128 channels.
constexpr int byte_slab_channels(int tile_n) { return tile_n < 128 ? tile_n : 128; }

/// Finished tiles for which a block has room: one receives its operand while the other is finished or stored.
inline constexpr int kByteOutputs = 2;
constexpr int byte_output_barrier_bytes(int groups) { return 8 + groups * 16; }

/// Bytes of a stage's row if an image has no more channels than this: half of a row of 128 would be zeros.
inline constexpr int kNarrowRowBytes = 64;

/// The ring of stages whose rows have `row_bytes` bytes, the finished tiles, and the barriers of both.
constexpr int64_t byte_shared_bytes(const WarpgroupConfig& config, int groups, int row_bytes) {
  return int64_t{config.stages} * ((config.tile_m + config.tile_n) * row_bytes + kRingBarrierBytes) +
         kByteOutputs * (int64_t{config.tile_m} * config.tile_n + byte_output_barrier_bytes(groups));
}

// Tables in the order of kWarpgroupShapes, one in each source
// file. Names give the result's elements, then the function.
extern const WarpgroupTable kByteBounds;
extern const WarpgroupTable kByteBoundsNarrow;
extern const WarpgroupTable kByteAdd;
extern const WarpgroupTable kByteSwish;
extern const WarpgroupTable kByteGelu;
extern const WarpgroupTable kByteHalfBounds;
extern const WarpgroupTable kByteHalfAdd;
extern const WarpgroupTable kByteFloatBounds;
/// Sums of two products; entries for tiles of fewer than kFewestSumFilters filters are null.
extern const WarpgroupTable kByteSum;

/// Products that are added have at least this number of filters in a tile.
inline constexpr int kFewestSumFilters = 64;

}  // namespace hone::device::cuda
