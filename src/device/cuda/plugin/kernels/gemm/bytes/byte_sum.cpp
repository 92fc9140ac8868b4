// See byte_sum.hpp.
#include "device/cuda/plugin/kernels/gemm/bytes/byte_sum.hpp"

#include <algorithm>

#include "device/cuda/plugin/kernels/common/tensor_maps.hpp"
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm_launch.hpp"

namespace hone::device::cuda {
namespace {

int64_t depth_steps(const ByteProblem& problem) { return warpgroup_depth_steps(in_pairs(problem)); }
int64_t depth_steps(const ByteSum& sum) { return depth_steps(sum.first) + depth_steps(sum.second); }

double guess(const ByteSum& sum, const WarpgroupConfig& config, const DeviceProperties& device) {
  const ByteTileWork work{
      .depth_steps = depth_steps(sum), .row_bytes = kStageRowBytes, .finishes = 2, .moves = 1};
  return guess_byte_time(sum.second, work, config, device);
}

}  // namespace

Refusal byte_sum_refusal(const ByteSum& sum, const DeviceProperties& device) {
  for (const ByteProblem& problem : {sum.first, sum.second}) {
    if (Refusal why = byte_refusal(problem, device)) return why;
    if (problem.result != ByteResult::kBytes) return "a result is no bytes";
  }
  if (sum.first.function != ByteFunction::kBounds || sum.second.function != ByteFunction::kAdd)
    return "it is more than a product that adds another one";
  const ConvProblem& first = sum.first.shape;
  const ConvProblem& second = sum.second.shape;
  if (first.batch != second.batch || first.filters != second.filters ||
      first.out_height() != second.out_height() || first.out_width() != second.out_width())
    return "the results of both products differ";
  return {};
}

Refusal byte_sum_refusal(const ByteSum& sum, const WarpgroupConfig& config, const DeviceProperties& device) {
  if (Refusal why = byte_sum_refusal(sum, device)) return why;
  if (config.tile_n < kFewestSumFilters) return "tiles of sums have more filters";
  for (const ByteProblem& problem : {sum.first, sum.second}) {
    if (Refusal why = byte_refusal(problem, config, device)) return why;
  }
  return {};
}

std::vector<WarpgroupConfig> byte_sum_configs(const ByteSum& sum, const DeviceProperties& device,
                                              size_t limit) {
  if (byte_sum_refusal(sum, device)) return {};
  constexpr size_t kAll = 1000;
  std::vector<WarpgroupConfig> configs =
      warpgroup_configs(in_pairs(sum.second), device, kAll, depth_steps(sum));
  std::erase_if(configs, [&](const WarpgroupConfig& config) {
    return static_cast<bool>(byte_sum_refusal(sum, config, device));
  });
  std::stable_sort(configs.begin(), configs.end(), [&](const WarpgroupConfig& a, const WarpgroupConfig& b) {
    return guess(sum, a, device) < guess(sum, b, device);
  });
  if (configs.size() > limit) configs.resize(limit);
  return configs;
}

cudaError_t launch_byte_sum(const ByteSum& sum, const WarpgroupConfig& config, const ByteSumArgs& args,
                            const LaunchOptions& options) {
  if (byte_sum_refusal(sum, config, *options.device)) return cudaErrorInvalidValue;
  if (args.first.operand != nullptr || args.second.operand != nullptr) return cudaErrorInvalidValue;
  if (map_encoders().tiled == nullptr || map_encoders().im2col == nullptr) return cudaErrorNotSupported;

  ByteSumParams params{};
  if (!set_source(in_pairs(sum.first), config, args.first.x, args.first.w, params) ||
      !set_source(in_pairs(sum.second), config, args.second.x, args.second.w, params.second) ||
      !set_byte_result(sum.second, config, args.second, params))
    return cudaErrorInvalidValue;
  params.first_steps = static_cast<int>(depth_steps(sum.first));
  params.depth_steps = static_cast<int>(depth_steps(sum));
  params.operand_ending = byte_ending(sum.first, args.first, false);
  params.ending = byte_ending(sum.second, args.second, true);
  params.unsigned_x = sum.first.unsigned_x;
  params.unsigned_second_x = sum.second.unsigned_x;
  return launch_byte_tiles(kByteSum, config, kStageRowBytes, params.tiles, &params, options);
}

}  // namespace hone::device::cuda
