// See warpgroup_sum.hpp.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_sum.hpp"

#include <algorithm>
#include <optional>

#include "device/cuda/plugin/kernels/common/tensor_maps.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_launch.hpp"

namespace hone::device::cuda {
namespace {

int64_t sum_steps(const ConvSum& sum) {
  return warpgroup_depth_steps(sum.first) + warpgroup_depth_steps(sum.second);
}

/// The reason to refuse either convolution, or their combination.
Refusal sum_refusal(const ConvSum& sum) {
  const ConvProblem& first = sum.first;
  const ConvProblem& second = sum.second;
  for (const ConvProblem& problem : {first, second}) {
    if (Refusal why = conv_refusal(problem)) return why;
  }
  if (first.element != second.element || first.batch != second.batch || first.filters != second.filters ||
      first.out_height() != second.out_height() || first.out_width() != second.out_width())
    return "the results of both convolutions differ";
  return {};
}

/// Returns the address after `images` images of `elements` elements each.
const void* behind(const void* memory, int64_t images, int64_t elements) {
  constexpr int kElementBytes = 2;
  return static_cast<const char*>(memory) + images * elements * kElementBytes;
}

int64_t input_elements(const ConvProblem& p) { return int64_t{p.height} * p.width * p.channels; }

}  // namespace

Refusal warpgroup_sum_refusal(const ConvSum& sum, const WarpgroupConfig& config,
                              const DeviceProperties& device) {
  if (Refusal why = sum_refusal(sum)) return why;
  for (const ConvProblem& problem : {sum.first, sum.second}) {
    if (Refusal why = warpgroup_refusal(problem, config, device, sum_steps(sum))) return why;
  }
  return {};
}

std::vector<WarpgroupConfig> warpgroup_sum_configs(const ConvSum& sum, const DeviceProperties& device,
                                                   size_t limit) {
  if (sum_refusal(sum)) return {};
  std::vector<WarpgroupConfig> configs = warpgroup_configs(sum.first, device, limit, sum_steps(sum));
  // If the second convolution is refused, it is refused in every configuration.
  if (!configs.empty() && warpgroup_sum_refusal(sum, configs[0], device)) return {};
  return configs;
}

cudaError_t launch_warpgroup_sum(const ConvSum& sum, const WarpgroupConfig& config, const ConvSumArgs& args,
                                 const LaunchOptions& options) {
  const DeviceProperties& device = *options.device;
  if (warpgroup_sum_refusal(sum, config, device) || !valid_steps(args)) return cudaErrorInvalidValue;
  const std::optional<StreamEpilogue> bounds = stream_epilogue(args);
  if (!bounds || bounds->kind != StreamKind::kBounds) return cudaErrorInvalidValue;
  if (map_encoders().tiled == nullptr || map_encoders().im2col == nullptr) return cudaErrorNotSupported;

  WarpgroupSumParams params{};
  if (!set_source(sum.first, config, args.x, args.w, params) ||
      !set_source(sum.second, config, args.second_x, args.second_w, params.second))
    return cudaErrorInvalidValue;
  params.first_steps = static_cast<int>(warpgroup_depth_steps(sum.first));
  params.depth_steps = static_cast<int>(sum_steps(sum));
  set_result(sum.first, config, args, params);
  params.stream = *bounds;
  const bool half = sum.first.element == Element::kHalf;
  if (config.parts != 1) {
    return launch_blocks(half ? kHalfSumSplit : kBFloat16SumSplit, config, false, params.tiles, &params,
                         options);
  }
  if (!set_rows(sum.first, config, args.y, params.output)) return cudaErrorInvalidValue;
  return launch_tiles(half ? kHalfSum : kBFloat16Sum, config, params.tiles, &params, options);
}

cudaError_t launch_warpgroup_sums(const ConvSum& sum, int images, const WarpgroupConfig& config,
                                  const ConvSumArgs& args, const LaunchOptions& options) {
  const int64_t result = int64_t{sum.first.out_height()} * sum.first.out_width() * sum.first.filters;
  for (int done = 0; done < images; done += sum.first.batch) {
    ConvSum part = sum;
    part.first.batch = part.second.batch = std::min(sum.first.batch, images - done);
    ConvSumArgs of_part = args;
    of_part.x = behind(args.x, done, input_elements(sum.first));
    of_part.second_x = behind(args.second_x, done, input_elements(sum.second));
    of_part.y = const_cast<void*>(behind(args.y, done, result));
    if (const cudaError_t error = launch_warpgroup_sum(part, config, of_part, options); error != cudaSuccess)
      return error;
  }
  return cudaSuccess;
}

}  // namespace hone::device::cuda
