// Helpers for launching warpgroup GEMM kernels: tensor maps, the kernel's parameter, the grid. Internal.
#pragma once

#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_params.hpp"

namespace hone::device::cuda {

/// The number of stages in a tap.
FastDivisor source_chunks(const ConvProblem& problem);
SourceWindows source_geometry(const ConvProblem& problem);
/// Encodes boxes of `depth` channels, 64 or 32, whose rows are swizzled for their length in bytes. Returns
/// false if the driver cannot describe x or w.
bool set_maps(const ConvProblem& problem, const WarpgroupConfig& config, const void* x, const void* w,
              SourceMaps& maps, int depth = kStageDepth);

/// Sets all members of a WarpgroupParams or SecondSource that describe a source.
template <class Source>
bool set_source(const ConvProblem& problem, const WarpgroupConfig& config, const void* x, const void* w,
                Source& source, int depth = kStageDepth) {
  source.chunks = source_chunks(problem);
  source.geometry = source_geometry(problem);
  return set_maps(problem, config, x, w, source, depth);
}

/// Sets everything that depends only on the result: all but the sources and the number of stages.
void set_result(const ConvProblem& problem, const WarpgroupConfig& config, const ConvArgs& args,
                WarpgroupParams& params);

/// Encodes boxes of 64 rows of y or of its operand, with the channels of a slab of the output. Returns false
/// if the driver cannot describe it.
bool set_rows(const ConvProblem& problem, const WarpgroupConfig& config, const void* y, CUtensorMap& map);

/// Launches a kernel of the table with one block, or a cluster of config.parts blocks, for each of `tiles`.
/// `params` points to the kernel's parameter.
cudaError_t launch_blocks(const WarpgroupTable& kernels, const WarpgroupConfig& config, bool prefetch,
                          int tiles, const void* params, const LaunchOptions& options);

/// Launches a kernel of the table that computes a stream of
/// tiles, with all blocks that the device holds at once.
cudaError_t launch_tiles(const WarpgroupTable& kernels, const WarpgroupConfig& config, int tiles,
                         const void* params, const LaunchOptions& options);

}  // namespace hone::device::cuda
