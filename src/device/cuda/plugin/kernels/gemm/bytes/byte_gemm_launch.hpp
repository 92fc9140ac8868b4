// Helpers for launching the GEMM of bytes: the kernel's parameter, its grid, and an estimate of a
// configuration's time. Internal.
#pragma once

#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm_params.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_launch.hpp"

namespace hone::device::cuda {

/// The same problem with each two bytes seen as one half.
ConvProblem in_pairs(const ByteProblem& problem);

/// The parameters for the end of a product, with the operand if it `adds` one.
ByteEnding byte_ending(const ByteProblem& problem, const ByteArgs& args, bool adds);

/// Sets everything that depends only on the result, as set_result() does, and the map of its bytes. Returns
/// false if the driver cannot describe y.
bool set_byte_result(const ByteProblem& problem, const WarpgroupConfig& config, const ByteArgs& args,
                     WarpgroupParams& params);

/// Encodes boxes of 64 rows and a slab's channels of y or of
/// its operand; false if the driver cannot describe it.
bool map_byte_rows(const ByteProblem& problem, const WarpgroupConfig& config, const void* y,
                   CUtensorMap& map);

/// Launches a kernel of the table with all blocks that the device holds at once.
cudaError_t launch_byte_tiles(const WarpgroupTable& kernels, const WarpgroupConfig& config, int row_bytes,
                              int tiles, const void* params, const LaunchOptions& options);

/// The work of a block for one tile.
struct ByteTileWork {
  int64_t depth_steps;
  int row_bytes;  ///< of a stage
  int finishes;   ///< how often a tile's sums are finished
  int moves;      ///< how often a tile's bytes are moved to or from global memory
};

/// Estimated microseconds of a configuration, to compare configurations of one problem only.
double guess_byte_time(const ByteProblem& problem, const ByteTileWork& work, const WarpgroupConfig& config,
                       const DeviceProperties& device);

}  // namespace hone::device::cuda
