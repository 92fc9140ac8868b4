// Helpers of launches of the GEMM of bytes: the parameter, the grid, and how long a configuration may take.
// Internal.
#pragma once

#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm_params.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_launch.hpp"

namespace hone::device::cuda {

/// The problem with two bytes as one element of half.
ConvProblem in_pairs(const ByteProblem& problem);

/// The ending of a product, with an operand where it `adds` one.
ByteEnding byte_ending(const ByteProblem& problem, const ByteArgs& args, bool adds);

/// All that depends only on the result, as set_result() sets it, and where its bytes go; false where the
/// driver cannot describe y.
bool set_byte_result(const ByteProblem& problem, const WarpgroupConfig& config, const ByteArgs& args,
                     WarpgroupParams& params);

/// Boxes of 64 rows and a slab's channels of y, or of its summand; false where the driver cannot describe it.
bool map_byte_rows(const ByteProblem& problem, const WarpgroupConfig& config, const void* y,
                   CUtensorMap& map);

/// A kernel of the table, with all blocks that the device holds at once.
cudaError_t launch_byte_tiles(const WarpgroupTable& kernels, const WarpgroupConfig& config, int row_bytes,
                              int tiles, const void* params, const LaunchOptions& options);

/// The work of a block for each tile.
struct ByteTileWork {
  int64_t depth_steps;
  int row_bytes;  ///< of a stage
  int finishes;   ///< how often a tile's sums are finished
  int moves;      ///< how often a tile's bytes go to memory or come from there
};

/// Microseconds that a configuration may take, of which those of one problem are compared.
double guess_byte_time(const ByteProblem& problem, const ByteTileWork& work, const WarpgroupConfig& config,
                       const DeviceProperties& device);

}  // namespace hone::device::cuda
