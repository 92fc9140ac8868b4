// Tensor maps and launch of the warpgroup GEMM. See warpgroup_gemm.hpp.
#include "device/cuda/plugin/kernels/warpgroup_gemm.hpp"

#include <algorithm>
#include <optional>

#include "device/cuda/plugin/kernels/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/tensor_maps.hpp"
#include "device/cuda/plugin/kernels/warpgroup_gemm_params.hpp"

namespace hone::device::cuda {
namespace {

/// Boxes of 64 channels of tile_n filters at one tap. What lies outside of w is zero.
CUresult map_filters(const ConvProblem& p, const WarpgroupConfig& config, const void* w, CUtensorMap& map) {
  const auto channels = static_cast<cuuint64_t>(p.channels);
  const cuuint64_t taps = static_cast<cuuint64_t>(p.kernel_h) * p.kernel_w;
  const cuuint64_t extents[] = {channels, taps, static_cast<cuuint64_t>(p.filters)};
  const cuuint64_t pitches[] = {channels * 2, taps * channels * 2};
  const cuuint32_t box[] = {kStageDepth, 1, static_cast<cuuint32_t>(config.tile_n)};
  const cuuint32_t strides[] = {1, 1, 1};
  return map_encoders().tiled(&map, map_type(p.element), 3, const_cast<void*>(w), extents, pitches, box,
                              strides, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                              CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/// Columns of tile_m windows' pixels, 64 channels each. The box of the corners that windows take runs from
/// -padding to the last one; padding and what follows the last image is zero.
CUresult map_windows(const ConvProblem& p, const WarpgroupConfig& config, const void* x, CUtensorMap& map) {
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
                               upper, kStageDepth, static_cast<cuuint32_t>(config.tile_m), strides,
                               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/// Boxes of 64 rows of y or of what is added to it, as many channels as a slab of the output has.
CUresult map_rows(const ConvProblem& p, const WarpgroupConfig& config, const void* y, CUtensorMap& map) {
  const cuuint32_t channels = config.tile_n < 64 ? config.tile_n : 64;
  const auto filters = static_cast<cuuint64_t>(p.filters);
  const cuuint64_t extents[] = {filters, static_cast<cuuint64_t>(p.rows())};
  const cuuint64_t pitches[] = {filters * 2};
  const cuuint32_t box[] = {channels, 64};
  const cuuint32_t strides[] = {1, 1};
  return map_encoders().tiled(&map, map_type(p.element), 2, const_cast<void*>(y), extents, pitches, box,
                              strides, CU_TENSOR_MAP_INTERLEAVE_NONE,
                              channels == 64 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B,
                              CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/// The place of a configuration's tile in the tables; warpgroup_refusal() has found one.
size_t shape_of(const WarpgroupConfig& config) {
  const auto* const found = std::find_if(
      std::begin(kWarpgroupShapes), std::end(kWarpgroupShapes), [&](const WarpgroupShape& shape) {
        return shape.tile_m == config.tile_m && shape.tile_n == config.tile_n;
      });
  return static_cast<size_t>(found - std::begin(kWarpgroupShapes));
}

/// Of one block a tile, or of a cluster.
const WarpgroupTable& block_kernels(Element element, const WarpgroupConfig& config,
                                    const std::optional<StreamEpilogue>& steps) {
  const bool half = element == Element::kHalf;
  if (config.parts == 1) return half ? kHalfBlock : kBFloat16Block;
  if (steps && steps->kind != StreamKind::kSwish) return half ? kHalfSplit : kBFloat16Split;
  return half ? kHalfSplitSteps : kBFloat16SplitSteps;
}

const WarpgroupTable& stream_kernels(Element element, StreamKind kind) {
  const bool half = element == Element::kHalf;
  switch (kind) {
    case StreamKind::kBounds: return half ? kHalfBounds : kBFloat16Bounds;
    case StreamKind::kAdd: return half ? kHalfAdd : kBFloat16Add;
    case StreamKind::kSwish: break;
  }
  return half ? kHalfSwish : kBFloat16Swish;
}

void set_schedule(const ConvProblem& problem, const WarpgroupConfig& config, const ConvArgs& args,
                  WarpgroupParams& params) {
  params.chunks = FastDivisor((problem.channels + kStageDepth - 1) / kStageDepth);
  params.depth_steps = problem.kernel_h * problem.kernel_w * static_cast<int>(params.chunks.divisor);
  params.tiles_n = FastDivisor((problem.filters + config.tile_n - 1) / config.tile_n);
  params.split = FastDivisor(config.parts);
  params.split_k = config.parts;
  params.stages = config.stages;
  params.staging_bytes = static_cast<int>(warpgroup_staging_bytes(config));
  params.next_waits = args.next_waits;
}

void set_geometry(const ConvProblem& problem, WarpgroupParams& params) {
  params.out_width = FastDivisor(problem.out_width());
  params.out_height = FastDivisor(problem.out_height());
  params.kernel_w = problem.kernel_w;
  params.stride_h = problem.stride_h;
  params.stride_w = problem.stride_w;
  params.pad_top = problem.pad_top;
  params.pad_left = problem.pad_left;
  params.dilation_h = problem.dilation_h;
  params.dilation_w = problem.dilation_w;
}

}  // namespace

cudaError_t launch_warpgroup(const ConvProblem& problem, const WarpgroupConfig& config, const ConvArgs& args,
                             bool pdl, cudaStream_t stream) {
  DeviceLimits limits;
  if (const cudaError_t error = device_limits(limits); error != cudaSuccess) return error;
  if (!warpgroup_refusal(problem, config, limits).empty() || !valid_steps(args)) return cudaErrorInvalidValue;
  if (map_encoders().tiled == nullptr || map_encoders().im2col == nullptr) return cudaErrorNotSupported;

  WarpgroupParams params{};
  if (map_filters(problem, config, args.w, params.filters) != CUDA_SUCCESS ||
      map_windows(problem, config, args.x, params.windows) != CUDA_SUCCESS)
    return cudaErrorInvalidValue;
  params.anywhere = args.w;
  params.epilogue = make_epilogue(problem, args);
  set_geometry(problem, params);
  set_schedule(problem, config, args, params);

  params.tiles =
      (params.epilogue.rows + config.tile_m - 1) / config.tile_m * static_cast<int>(params.tiles_n.divisor);
  const size_t shape = shape_of(config);
  const int groups = kWarpgroupShapes[shape].groups;
  GemmLaunch launch;
  launch.pdl = pdl;
  const std::optional<StreamEpilogue> stream_steps = stream_epilogue(args);
  if (problem.float_result && (!stream_steps || stream_steps->kind != StreamKind::kBounds))
    return cudaErrorInvalidValue;
  if (stream_steps) params.stream = *stream_steps;
  if (config.parts != 1 || !stream_steps) {
    launch.function = block_kernels(problem.element, config, stream_steps)[shape];
    launch.blocks = int64_t{params.tiles} * config.parts;
    launch.threads = groups * 128 + 32;
    launch.cluster = config.parts;
    launch.shared_bytes = warpgroup_shared_bytes(config, params.epilogue.prefetched != nullptr);
    return launch_gemm(launch, limits, &params, stream);
  }
  if (map_rows(problem, config, args.y, params.output) != CUDA_SUCCESS) return cudaErrorInvalidValue;
  if (params.stream.kind == StreamKind::kAdd &&
      map_rows(problem, config, args.steps[0].operand, params.operand) != CUDA_SUCCESS)
    return cudaErrorInvalidValue;
  launch.function = stream_kernels(problem.element, params.stream.kind)[shape];
  launch.threads = groups * 128 + 64;
  launch.shared_bytes = stream_shared_bytes(config, groups);
  if (const cudaError_t error = resident_blocks(launch, limits, launch.blocks); error != cudaSuccess)
    return error;
  if (launch.blocks == 0) return cudaErrorInvalidValue;
  launch.blocks = std::min<int64_t>(launch.blocks, params.tiles);
  return launch_gemm(launch, limits, &params, stream);
}

}  // namespace hone::device::cuda
