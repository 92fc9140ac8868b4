// See warpgroup_pooled.hpp.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_pooled.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "device/cuda/plugin/kernels/common/tensor_maps.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_launch.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_pooled_params.hpp"

namespace hone::device::cuda {
namespace {

/// The kernel with the configuration's tile; warpgroup_pooled_refusal() has checked that it exists.
const void* kernel_of(Element element, StreamKind kind, const WarpgroupConfig& config) {
  const PooledTable& kernels = element == Element::kHalf ? kHalfPooled : kBFloat16Pooled;
  const auto* const found = std::find(kPooledTiles.begin(), kPooledTiles.end(), config.tile_n);
  return kernels[static_cast<size_t>(kind)][static_cast<size_t>(found - kPooledTiles.begin())];
}

bool is_pooled(StreamKind kind) { return kind == StreamKind::kAdd || is_mobile(kind); }

}  // namespace

Refusal warpgroup_pooled_steps_refusal(const ConvArgs& args) {
  const std::optional<StreamEpilogue> steps = stream_epilogue(args);
  if (steps && is_pooled(steps->kind)) return {};
  return "its epilogue is more than bounds, also after an addition, a swish or a hard swish";
}

Refusal warpgroup_pooled_refusal(const ConvProblem& problem, const WarpgroupConfig& config,
                                 const DeviceProperties& device) {
  if (Refusal why = warpgroup_refusal(problem, config, device)) return why;
  const bool compiled = config.tile_m == kPooledRows && std::find(kPooledTiles.begin(), kPooledTiles.end(),
                                                                  config.tile_n) != kPooledTiles.end();
  if (!compiled || config.parts != 1) return "no kernel pools tiles of " + config.text();
  if (int64_t{problem.out_height()} * problem.out_width() > kPooledRows)
    return "its images have more than " + std::to_string(kPooledRows) + " pixels";
  return {};
}

std::vector<WarpgroupConfig> warpgroup_pooled_configs(const ConvProblem& problem,
                                                      const DeviceProperties& device) {
  std::vector<WarpgroupConfig> configs =
      warpgroup_configs(problem, device, std::numeric_limits<size_t>::max());
  std::erase_if(configs, [&](const WarpgroupConfig& config) {
    return warpgroup_pooled_refusal(problem, config, device);
  });
  return configs;
}

cudaError_t launch_warpgroup_pooled(const ConvProblem& problem, const WarpgroupConfig& config,
                                    const ConvArgs& args, const LaunchOptions& options) {
  const DeviceProperties& device = *options.device;
  if (warpgroup_pooled_refusal(problem, config, device) || !valid_steps(args)) return cudaErrorInvalidValue;
  const std::optional<StreamEpilogue> steps = stream_epilogue(args);
  if (!steps || !is_pooled(steps->kind)) return cudaErrorInvalidValue;
  if (map_encoders().tiled == nullptr || map_encoders().im2col == nullptr) return cudaErrorNotSupported;

  WarpgroupParams params{};
  if (!set_source(problem, config, args.x, args.w, params)) return cudaErrorInvalidValue;
  params.depth_steps = static_cast<int>(warpgroup_depth_steps(problem));
  set_result(problem, config, args, params);
  params.tiles = problem.batch * static_cast<int>(params.tiles_n.divisor);
  params.stream = *steps;

  GemmLaunch launch;
  launch.function = kernel_of(problem.element, steps->kind, config);
  launch.threads = kPooledThreads;
  launch.shared_bytes = pooled_shared_bytes(config);
  if (const cudaError_t error = resident_blocks(launch, device, launch.blocks); error != cudaSuccess)
    return error;
  if (launch.blocks == 0) return cudaErrorInvalidValue;
  launch.blocks = std::min<int64_t>(launch.blocks, params.tiles);
  return launch_gemm(launch, &params, options);
}

}  // namespace hone::device::cuda
