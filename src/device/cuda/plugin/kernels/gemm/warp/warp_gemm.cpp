// Configurations and launch of the warp GEMM. See warp_gemm.hpp.
#include "device/cuda/plugin/kernels/gemm/warp/warp_gemm.hpp"

#include <algorithm>
#include <iterator>

#include "device/cuda/plugin/kernels/common/ceil_divide.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_epilogue.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/gemm/warp/warp_gemm_params.hpp"

namespace hone::device::cuda {
namespace {

/// The compiled kernel with the smallest sufficient depth; the end iterator if there is none.
const WarpGemmShape* shape_of(const ConvProblem& problem, const WarpGemmConfig& config) {
  const int chunks = ceil_divide(problem.channels, kWarpGemmChunk);
  return std::find_if(
      std::begin(kWarpGemmShapes), std::end(kWarpGemmShapes),
      [&](const WarpGemmShape& shape) { return shape.tile_m == config.tile_m && shape.chunks >= chunks; });
}

}  // namespace

std::string WarpGemmConfig::text() const { return std::to_string(tile_m) + "x" + std::to_string(kFilters); }

std::optional<WarpGemmConfig> WarpGemmConfig::parse(const std::string& text) {
  for (const int tile_m : {16, 32}) {
    if (const WarpGemmConfig config{tile_m}; config.text() == text) return config;
  }
  return std::nullopt;
}

Refusal warp_gemm_refusal(const ConvProblem& problem, const WarpGemmConfig& config,
                          const DeviceProperties& device) {
  if (Refusal why = conv_refusal(problem)) return why;
  if (!device.async_copies) return "it needs compute capability 8.0";
  if (element_bytes(problem.element) != 2) return "it multiplies elements of two bytes";
  if (!is_pointwise(problem)) return "windows are not single pixels, one after the other";
  if (shape_of(problem, config) == std::end(kWarpGemmShapes))
    return std::to_string(problem.channels) + " channels are more than a warp has registers for";
  return {};
}

std::vector<WarpGemmConfig> warp_gemm_configs(const ConvProblem& problem, const DeviceProperties& device) {
  std::vector<WarpGemmConfig> configs;
  for (const int tile_m : {32, 16}) {
    if (!warp_gemm_refusal(problem, {tile_m}, device)) configs.push_back({tile_m});
  }
  return configs;
}

cudaError_t launch_warp_gemm(const ConvProblem& problem, const WarpGemmConfig& config, const ConvArgs& args,
                             const LaunchOptions& options) {
  const DeviceProperties& device = *options.device;
  const std::optional<StreamEpilogue> steps = stream_epilogue(args);
  if (warp_gemm_refusal(problem, config, device) || !steps || !valid_steps(args))
    return cudaErrorInvalidValue;

  const auto shape = static_cast<size_t>(shape_of(problem, config) - std::begin(kWarpGemmShapes));
  GemmLaunch launch;
  launch.function = problem.element == Element::kHalf ? half_warp_gemm(shape, steps->kind)
                                                      : bfloat16_warp_gemm(shape, steps->kind);
  launch.threads = kWarpGemmWarps * 32;
  int64_t resident = 0;
  if (const cudaError_t error = resident_blocks(launch, device, resident); error != cudaSuccess) return error;

  const int64_t groups = ceil_divide(problem.filters, WarpGemmConfig::kFilters);
  const int64_t tiles = ceil_divide(problem.rows(), config.tile_m);
  const int64_t at_once = std::max<int64_t>(1, resident * kWarpGemmWarps / groups);
  // Uses as few iterations as all tiles allow, and no more warps than these need.
  const int64_t strips = ceil_divide(tiles, ceil_divide(tiles, at_once));
  launch.blocks = ceil_divide(strips * groups, kWarpGemmWarps);

  WarpGemmParams p{};
  p.x = args.x;
  p.w = args.w;
  p.bias = args.bias;
  p.operand = steps->kind == StreamKind::kAdd ? args.steps[0].operand : nullptr;
  p.y = args.y;
  p.epilogue = *steps;
  p.filter_groups = FastDivisor(groups);
  p.rows = static_cast<int>(problem.rows());
  p.channels = problem.channels;
  p.filters = problem.filters;
  p.strips = static_cast<int>(strips);
  p.next_waits = args.next_waits;
  return launch_gemm(launch, &p, options);
}

}  // namespace hone::device::cuda
