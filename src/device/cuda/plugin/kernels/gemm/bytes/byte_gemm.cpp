// See byte_gemm.hpp.
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm.hpp"

#include <algorithm>

#include "device/cuda/plugin/kernels/common/tensor_maps.hpp"
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm_launch.hpp"

namespace hone::device::cuda {
namespace {

constexpr int kRun = 16;
/// Scales are padded to whole tiles, because kernels read them for whole tiles.
constexpr int kWidestTile = 256;

bool is_narrow(const ByteProblem& problem) {
  return problem.shape.channels == kNarrowRowBytes && problem.result == ByteResult::kBytes &&
         problem.function == ByteFunction::kBounds;
}
int row_bytes(const ByteProblem& problem) { return is_narrow(problem) ? kNarrowRowBytes : kStageRowBytes; }

const WarpgroupTable* find_table(const ByteProblem& problem) {
  switch (problem.result) {
    case ByteResult::kBytes:
      switch (problem.function) {
        case ByteFunction::kBounds: return is_narrow(problem) ? &kByteBoundsNarrow : &kByteBounds;
        case ByteFunction::kAdd: return &kByteAdd;
        case ByteFunction::kSwish: return &kByteSwish;
        case ByteFunction::kGelu: return &kByteGelu;
      }
      break;
    case ByteResult::kHalf:
      if (problem.function == ByteFunction::kBounds) return &kByteHalfBounds;
      if (problem.function == ByteFunction::kAdd) return &kByteHalfAdd;
      break;
    case ByteResult::kFloat:
      if (problem.function == ByteFunction::kBounds) return &kByteFloatBounds;
      break;
  }
  return nullptr;
}

double guess(const ByteProblem& problem, const WarpgroupConfig& config, const DeviceProperties& device) {
  const ByteTileWork work{.depth_steps = warpgroup_depth_steps(in_pairs(problem)),
                          .row_bytes = row_bytes(problem),
                          .finishes = 1,
                          .moves = problem.function == ByteFunction::kAdd ? 2 : 1};
  return guess_byte_time(problem, work, config, device);
}

}  // namespace

int64_t byte_filters(const ByteProblem& problem) { return (problem.shape.filters + kRun - 1) / kRun * kRun; }

int64_t byte_scales(const ByteProblem& problem) {
  return int64_t{problem.shape.filters + kWidestTile - 1} / kWidestTile * kWidestTile;
}

int64_t byte_filter_place(int64_t filter) {
  const int64_t of_run = filter % kRun;
  return filter - of_run + of_run / 2 % 2 * 8 + of_run / 4 * 2 + of_run % 2;
}

Refusal byte_refusal(const ByteProblem& problem, const DeviceProperties& device) {
  const ConvProblem& p = problem.shape;
  if (!device.warpgroups) return "it is for compute capability 9.0";
  if (p.channels % 16 != 0) return "channels are no multiple of 16";
  if (p.pitch() != p.channels) return "pixels overlap";
  if (problem.result == ByteResult::kBytes && p.filters % 16 != 0) return "filters are no multiple of 16";
  if (find_table(problem) == nullptr) return "no kernel makes floats behind this function";
  return conv_refusal(in_pairs(problem));
}

Refusal byte_refusal(const ByteProblem& problem, const WarpgroupConfig& config,
                     const DeviceProperties& device) {
  if (Refusal why = byte_refusal(problem, device)) return why;
  if (config.parts != 1) return "the depth of bytes is not split";
  return warpgroup_refusal(in_pairs(problem), config, device);
}

std::vector<WarpgroupConfig> byte_configs(const ByteProblem& problem, const DeviceProperties& device,
                                          size_t limit) {
  if (byte_refusal(problem, device)) return {};
  constexpr size_t kAll = 1000;
  std::vector<WarpgroupConfig> configs = warpgroup_configs(in_pairs(problem), device, kAll);
  std::erase_if(configs, [&](const WarpgroupConfig& config) {
    return static_cast<bool>(byte_refusal(problem, config, device));
  });
  std::stable_sort(configs.begin(), configs.end(), [&](const WarpgroupConfig& a, const WarpgroupConfig& b) {
    return guess(problem, a, device) < guess(problem, b, device);
  });
  if (configs.size() > limit) configs.resize(limit);
  return configs;
}

cudaError_t launch_bytes(const ByteProblem& problem, const WarpgroupConfig& config, const ByteArgs& args,
                         const LaunchOptions& options) {
  const DeviceProperties& device = *options.device;
  if (byte_refusal(problem, config, device)) return cudaErrorInvalidValue;
  if (args.operand != nullptr && problem.function != ByteFunction::kAdd) return cudaErrorInvalidValue;
  if (map_encoders().tiled == nullptr || map_encoders().im2col == nullptr) return cudaErrorNotSupported;

  const ConvProblem pairs = in_pairs(problem);
  ByteParams params{};
  if (!set_source(pairs, config, args.x, args.w, params, row_bytes(problem) / 2) ||
      !set_byte_result(problem, config, args, params))
    return cudaErrorInvalidValue;
  params.depth_steps = static_cast<int>(warpgroup_depth_steps(pairs));
  params.ending = byte_ending(problem, args, args.operand != nullptr);
  params.floats = args.operand;
  params.unsigned_x = problem.unsigned_x;
  if (problem.result == ByteResult::kBytes && args.operand != nullptr &&
      !map_byte_rows(problem, config, args.operand, params.operand))
    return cudaErrorInvalidValue;
  return launch_byte_tiles(*find_table(problem), config, row_bytes(problem), params.tiles, &params, options);
}

}  // namespace hone::device::cuda
