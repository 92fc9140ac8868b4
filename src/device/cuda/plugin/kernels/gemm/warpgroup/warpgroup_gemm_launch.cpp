// See warpgroup_gemm_launch.hpp.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_launch.hpp"

#include <algorithm>

#include "device/cuda/plugin/kernels/common/tensor_maps.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_epilogue.hpp"

namespace hone::device::cuda {
namespace {

CUtensorMapSwizzle swizzle_of(int depth) {
  return depth == kStageDepth ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B;
}

/// Encodes boxes of `depth` channels of tile_n filters at one tap. Elements outside w are zero.
CUresult map_filters(const ConvProblem& p, const WarpgroupConfig& config, const void* w, int depth,
                     CUtensorMap& map) {
  const auto channels = static_cast<cuuint64_t>(p.channels);
  const cuuint64_t taps = static_cast<cuuint64_t>(p.kernel_h) * p.kernel_w;
  const cuuint64_t extents[] = {channels, taps, static_cast<cuuint64_t>(p.filters)};
  const cuuint64_t pitches[] = {channels * 2, taps * channels * 2};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(depth), 1, static_cast<cuuint32_t>(config.tile_n)};
  const cuuint32_t strides[] = {1, 1, 1};
  return map_encoders().tiled(&map, map_type(p.element), 3, const_cast<void*>(w), extents, pitches, box,
                              strides, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_of(depth),
                              CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/// Encodes columns of the pixels of tile_m windows, `depth` channels each. The corners of windows range from
/// -padding to the last one; padding and everything after the last image is zero.
CUresult map_windows(const ConvProblem& p, const WarpgroupConfig& config, const void* x, int depth,
                     CUtensorMap& map) {
  const auto channels = static_cast<cuuint64_t>(p.channels);
  const auto width = static_cast<cuuint64_t>(p.width);
  const auto height = static_cast<cuuint64_t>(p.height);
  const cuuint64_t extents[] = {channels, width, height, static_cast<cuuint64_t>(p.batch)};
  const cuuint64_t pitches[] = {channels * 2, width * channels * 2, height * width * channels * 2};
  const int lower[] = {-p.pad_left, -p.pad_top};
  const int upper[] = {p.pad_right - (p.kernel_w - 1) * p.dilation_w,
                       p.pad_bottom - (p.kernel_h - 1) * p.dilation_h};
  const cuuint32_t strides[] = {1, static_cast<cuuint32_t>(p.stride_w), static_cast<cuuint32_t>(p.stride_h),
                                1};
  return map_encoders().im2col(&map, map_type(p.element), 4, const_cast<void*>(x), extents, pitches, lower,
                               upper, static_cast<cuuint32_t>(depth), static_cast<cuuint32_t>(config.tile_m),
                               strides, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_of(depth),
                               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/// The index of a configuration's tile in the tables; warpgroup_refusal() has checked that it exists.
size_t shape_of(const WarpgroupConfig& config) {
  const auto* const found = std::find_if(
      std::begin(kWarpgroupShapes), std::end(kWarpgroupShapes), [&](const WarpgroupShape& shape) {
        return shape.tile_m == config.tile_m && shape.tile_n == config.tile_n;
      });
  return static_cast<size_t>(found - std::begin(kWarpgroupShapes));
}

}  // namespace

FastDivisor source_chunks(const ConvProblem& problem) {
  return FastDivisor((problem.channels + kStageDepth - 1) / kStageDepth);
}

SourceWindows source_geometry(const ConvProblem& problem) {
  return {problem.kernel_w, problem.stride_h,   problem.stride_w,  problem.pad_top,
          problem.pad_left, problem.dilation_h, problem.dilation_w};
}

bool set_maps(const ConvProblem& problem, const WarpgroupConfig& config, const void* x, const void* w,
              SourceMaps& maps, int depth) {
  return map_filters(problem, config, w, depth, maps.filters) == CUDA_SUCCESS &&
         map_windows(problem, config, x, depth, maps.windows) == CUDA_SUCCESS;
}

void set_result(const ConvProblem& problem, const WarpgroupConfig& config, const ConvArgs& args,
                WarpgroupParams& params) {
  params.epilogue = make_epilogue(problem, args);
  params.anywhere = args.w;
  params.out_width = FastDivisor(problem.out_width());
  params.out_height = FastDivisor(problem.out_height());
  params.tiles_n = FastDivisor((problem.filters + config.tile_n - 1) / config.tile_n);
  params.tiles =
      (params.epilogue.rows + config.tile_m - 1) / config.tile_m * static_cast<int>(params.tiles_n.divisor);
  params.split = FastDivisor(config.parts);
  params.split_k = config.parts;
  params.stages = config.stages;
  params.staging_bytes = static_cast<int>(warpgroup_staging_bytes(config));
  params.next_waits = args.next_waits;
}

bool set_rows(const ConvProblem& p, const WarpgroupConfig& config, const void* y, CUtensorMap& map) {
  const cuuint32_t channels = config.tile_n < 64 ? config.tile_n : 64;
  const auto filters = static_cast<cuuint64_t>(p.filters);
  const cuuint64_t extents[] = {filters, static_cast<cuuint64_t>(p.rows())};
  const cuuint64_t pitches[] = {filters * 2};
  const cuuint32_t box[] = {channels, 64};
  const cuuint32_t strides[] = {1, 1};
  return map_encoders().tiled(&map, map_type(p.element), 2, const_cast<void*>(y), extents, pitches, box,
                              strides, CU_TENSOR_MAP_INTERLEAVE_NONE,
                              channels == 64 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B,
                              CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                              CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

cudaError_t launch_blocks(const WarpgroupTable& kernels, const WarpgroupConfig& config, bool prefetch,
                          int tiles, const void* params, const LaunchOptions& options) {
  const size_t shape = shape_of(config);
  GemmLaunch launch;
  launch.function = kernels[shape];
  launch.blocks = int64_t{tiles} * config.parts;
  launch.threads = kWarpgroupShapes[shape].groups * 128 + 32;
  launch.cluster = config.parts;
  launch.shared_bytes = warpgroup_shared_bytes(config, prefetch);
  return launch_gemm(launch, params, options);
}

cudaError_t launch_tiles(const WarpgroupTable& kernels, const WarpgroupConfig& config, int tiles,
                         const void* params, const LaunchOptions& options) {
  const size_t shape = shape_of(config);
  const int groups = kWarpgroupShapes[shape].groups;
  GemmLaunch launch;
  launch.function = kernels[shape];
  launch.threads = groups * 128 + 64;
  launch.shared_bytes = stream_shared_bytes(config, groups);
  if (const cudaError_t error = resident_blocks(launch, *options.device, launch.blocks); error != cudaSuccess)
    return error;
  if (launch.blocks == 0) return cudaErrorInvalidValue;
  launch.blocks = std::min<int64_t>(launch.blocks, tiles);
  return launch_gemm(launch, params, options);
}

}  // namespace hone::device::cuda
