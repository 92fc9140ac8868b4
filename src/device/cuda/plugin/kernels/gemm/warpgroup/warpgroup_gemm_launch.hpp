// Helpers of launches of warpgroup GEMM kernels: tensor maps, the parameter, the grid. Internal.
#pragma once

#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_params.hpp"

namespace hone::device::cuda {

/// Stages of a tap.
FastDivisor source_chunks(const ConvProblem& problem);
SourceWindows source_geometry(const ConvProblem& problem);
/// Boxes of `depth` channels, 64 or 32, whose bytes are what their rows are swizzled by. False where the
/// driver cannot describe x or w.
bool set_maps(const ConvProblem& problem, const WarpgroupConfig& config, const void* x, const void* w,
              SourceMaps& maps, int depth = kStageDepth);

/// All of that for WarpgroupParams or SecondSource.
template <class Source>
bool set_source(const ConvProblem& problem, const WarpgroupConfig& config, const void* x, const void* w,
                Source& source, int depth = kStageDepth) {
  source.chunks = source_chunks(problem);
  source.geometry = source_geometry(problem);
  return set_maps(problem, config, x, w, source, depth);
}

/// All but the sources and the steps along the depth: everything that depends only on the result.
void set_result(const ConvProblem& problem, const WarpgroupConfig& config, const ConvArgs& args,
                WarpgroupParams& params);

/// Boxes of 64 rows of y or of its summand, with the channels of a slab of the output; false where the driver
/// cannot describe it.
bool set_rows(const ConvProblem& problem, const WarpgroupConfig& config, const void* y, CUtensorMap& map);

/// A kernel of the table, of one block or a cluster of config.parts blocks for each of `tiles`; `params`
/// points to its parameter.
cudaError_t launch_blocks(const WarpgroupTable& kernels, const WarpgroupConfig& config, bool prefetch,
                          int tiles, const void* params, const LaunchOptions& options);

/// A kernel of the table that computes a stream of tiles, with all blocks that the device holds at once.
cudaError_t launch_tiles(const WarpgroupTable& kernels, const WarpgroupConfig& config, int tiles,
                         const void* params, const LaunchOptions& options);

}  // namespace hone::device::cuda
