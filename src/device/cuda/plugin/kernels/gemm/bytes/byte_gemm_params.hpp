// The parameter of the GEMM of bytes, and the table of compiled kernels. Internal.
#pragma once

#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_params.hpp"

namespace hone::device::cuda {

/// The ending of a product: from its sums to its result.
struct ByteEnding {
  const float* scales;
  const float* bias;
  ByteFinish finish;
  uint32_t flip;          ///< of four unsigned bytes, to those of y
  uint32_t operand_flip;  ///< of four bytes of the operand, to unsigned ones ...
  float operand_offset;   ///< ... of which this is the offset
  bool has_operand;
};

/// Tensor maps see two bytes as one element, so that stages and their copies are those of the warpgroup GEMM
/// for elements of two bytes.
struct ByteParams : WarpgroupParams {
  ByteEnding ending;
  const void* floats;  ///< an operand of floats
  bool unsigned_x;
};

/// The parameter of a sum of two products. The sources are in the order in which they are multiplied: first
/// the product whose bytes are the operand of the second one.
struct ByteSumParams : WarpgroupSumParams {
  ByteEnding operand_ending;
  ByteEnding ending;
  bool unsigned_x;
  bool unsigned_second_x;
};

/// Bytes of a tile's finished rows in shared memory: slabs of up to 128 channels.
constexpr int byte_slab_channels(int tile_n) { return tile_n < 128 ? tile_n : 128; }

/// Finished tiles that a block has room for: the operand of one comes while another is finished or stored.
inline constexpr int kByteOutputs = 2;
constexpr int byte_output_barrier_bytes(int groups) { return 8 + groups * 16; }

/// Channels of a stage if an image has no more: half of a stage of 128 would be zeros.
inline constexpr int kNarrowRowBytes = 64;

/// Ring of stages whose rows have `row_bytes` bytes, finished tiles, barriers of both.
constexpr int64_t byte_shared_bytes(const WarpgroupConfig& config, int groups, int row_bytes) {
  return int64_t{config.stages} * ((config.tile_m + config.tile_n) * row_bytes + kRingBarrierBytes) +
         kByteOutputs * (int64_t{config.tile_m} * config.tile_n + byte_output_barrier_bytes(groups));
}

// Tables in the order of kWarpgroupShapes; one table a source file: the result's elements, then the function.
extern const WarpgroupTable kByteBounds;
extern const WarpgroupTable kByteBoundsNarrow;
extern const WarpgroupTable kByteAdd;
extern const WarpgroupTable kByteSwish;
extern const WarpgroupTable kByteGelu;
extern const WarpgroupTable kByteHalfBounds;
extern const WarpgroupTable kByteHalfAdd;
extern const WarpgroupTable kByteFloatBounds;
/// Sums of two products; null for tiles of fewer filters than kFewestSumFilters.
extern const WarpgroupTable kByteSum;

/// Products that are added have many filters.
inline constexpr int kFewestSumFilters = 64;

}  // namespace hone::device::cuda
