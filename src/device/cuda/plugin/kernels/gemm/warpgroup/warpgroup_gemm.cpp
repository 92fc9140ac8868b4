// Launch of the warpgroup GEMM. See warpgroup_gemm.hpp.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm.hpp"

#include <optional>

#include "device/cuda/plugin/kernels/common/tensor_maps.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_launch.hpp"

namespace hone::device::cuda {
namespace {

/// Kernels with one block, or one cluster of blocks, for each tile.
const WarpgroupTable& block_kernels(Element element, const WarpgroupConfig& config,
                                    const std::optional<StreamEpilogue>& steps) {
  const bool half = element == Element::kHalf;
  if (config.parts == 1) return half ? kHalfBlock : kBFloat16Block;
  if (steps && has_bounds(steps->kind)) return half ? kHalfSplit : kBFloat16Split;
  return half ? kHalfSplitSteps : kBFloat16SplitSteps;
}

const WarpgroupTable& stream_kernels(Element element, StreamKind kind) {
  const bool half = element == Element::kHalf;
  switch (kind) {
    case StreamKind::kBounds: return half ? kHalfBounds : kBFloat16Bounds;
    case StreamKind::kAdd: return half ? kHalfAdd : kBFloat16Add;
    case StreamKind::kSwish: return half ? kHalfSwish : kBFloat16Swish;
    case StreamKind::kHardSwish: return half ? kHalfHardSwish : kBFloat16HardSwish;
    case StreamKind::kLeaky: return half ? kHalfLeaky : kBFloat16Leaky;
    case StreamKind::kGelu: return half ? kHalfGelu : kBFloat16Gelu;
    case StreamKind::kGeluTanh: break;
  }
  return half ? kHalfGeluTanh : kBFloat16GeluTanh;
}

}  // namespace

cudaError_t launch_warpgroup(const ConvProblem& problem, const WarpgroupConfig& config, const ConvArgs& args,
                             const LaunchOptions& options) {
  const DeviceProperties& device = *options.device;
  if (warpgroup_refusal(problem, config, device) || !valid_steps(args)) return cudaErrorInvalidValue;
  if (map_encoders().tiled == nullptr || map_encoders().im2col == nullptr) return cudaErrorNotSupported;

  WarpgroupParams params{};
  if (!set_source(problem, config, args.x, args.w, params)) return cudaErrorInvalidValue;
  params.depth_steps = static_cast<int>(warpgroup_depth_steps(problem));
  set_result(problem, config, args, params);

  const std::optional<StreamEpilogue> stream_steps = stream_epilogue(args);
  if (problem.float_result && (!stream_steps || stream_steps->kind != StreamKind::kBounds))
    return cudaErrorInvalidValue;
  if (stream_steps) params.stream = *stream_steps;
  if (config.parts != 1 || !stream_steps) {
    return launch_blocks(block_kernels(problem.element, config, stream_steps), config,
                         params.epilogue.prefetched != nullptr, params.tiles, &params, options);
  }
  if (!set_rows(problem, config, args.y, params.output)) return cudaErrorInvalidValue;
  if (params.stream.kind == StreamKind::kAdd &&
      !set_rows(problem, config, args.steps[0].operand, params.operand))
    return cudaErrorInvalidValue;
  return launch_tiles(stream_kernels(problem.element, params.stream.kind), config, params.tiles, &params,
                      options);
}

}  // namespace hone::device::cuda
