// What the slab convolution's kernel gets as its parameter, how its shared memory lies, and the tables of
// compiled kernels. Internal.
#pragma once

#include <array>

#include "device/cuda/plugin/kernels/host_device.hpp"
#include "device/cuda/plugin/kernels/warpgroup_gemm_params.hpp"
#include "device/cuda/plugin/kernels/warpgroup_slab.hpp"

namespace hone::device::cuda {

inline constexpr int kSlabPositions = 64;  ///< of a tile
inline constexpr int kSlabWindow = 3;      ///< rows and columns of taps
inline constexpr int kSlabStages =
    9;  ///< the filters of a tap are a stage, those of 64 channels lie in the ring
inline constexpr int kSlabThreads = 128 + 2 * 32;        ///< a warpgroup that multiplies, two warps that copy
inline constexpr std::array kSlabTiles = {32, 64, 128};  ///< filters of a tile

/// How tiles lie in an image.
struct SlabShape {
  explicit SlabShape(const ConvProblem& problem) {
    while (1 << pitch_log2 < problem.out_width()) ++pitch_log2;
    const int rows = kSlabPositions >> pitch_log2;
    if (rows == 0) return;
    tiles_y = (problem.out_height() + rows - 1) / rows;
    bytes = (rows + kSlabWindow - 1) * (1 << pitch_log2) * kStageRowBytes;
  }

  int pitch_log2 = 3;  ///< positions of a row, as many as a swizzled matrix may begin behind another
  int tiles_y = 0;     ///< tiles of an image; 0 where a row is longer than a tile
  int bytes = 0;       ///< of a slab
};

struct SlabParams : TileParams {
  CUtensorMap image;    ///< boxes of a slab
  CUtensorMap filters;  ///< as SourceMaps has it
  StreamEpilogue stream;
  FastDivisor tiles_y;
  int pitch_log2;
  int out_height;
  int out_width;
  int pad_top;
  int pad_left;
  int slabs;  ///< places for slabs
  int slab_bytes;
};

/// Where the parts of a block's shared memory lie behind the ring of filters.
struct SlabMemory {
  int slabs;
  int receive;   ///< sums that the cluster sends: [64][tile_n + kStagePad] floats
  int barriers;  ///< of filters, of slabs, of what is received
  int operand;   ///< what is added to a block's share
  int bytes;     ///< in all
};
HONE_HOST_DEVICE SlabMemory slab_memory(int tile_n, int parts, int slabs, int slab_bytes) {
  SlabMemory memory{};
  memory.slabs = kSlabStages * tile_n * kStageRowBytes;
  memory.receive = memory.slabs + slabs * slab_bytes;
  memory.barriers = memory.receive + kSlabPositions * (tile_n + kStagePad) * 4;
  memory.operand = memory.barriers + (kSlabStages + slabs + 1) * kRingBarrierBytes;
  memory.bytes = memory.operand + kSlabPositions / parts * tile_n * 2;
  return memory;
}

/// Kernels in the order of kSlabTiles: with bounds and additions alone, with any epilogue.
using SlabKernels = std::array<const void*, kSlabTiles.size()>;
struct SlabTable {
  SlabKernels bounds;
  SlabKernels steps;
};
extern const SlabTable kHalfSlab;
extern const SlabTable kBFloat16Slab;

}  // namespace hone::device::cuda
