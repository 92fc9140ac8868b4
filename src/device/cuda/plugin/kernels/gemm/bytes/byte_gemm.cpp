// See byte_gemm.hpp.
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm.hpp"

#include <algorithm>
#include <cmath>

#include "device/cuda/plugin/kernels/common/ceil_divide.hpp"
#include "device/cuda/plugin/kernels/common/tensor_maps.hpp"
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm_params.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_launch.hpp"

namespace hone::device::cuda {
namespace {

constexpr int kRun = 16;
/// Scales are read for whole tiles.
constexpr int kWidestTile = 256;

/// The problem with two bytes as one element of half.
ConvProblem in_pairs(const ByteProblem& problem) {
  ConvProblem p = problem.shape;
  p.element = Element::kHalf;
  p.channels /= 2;
  p.filters = static_cast<int>(byte_filters(problem));
  p.pixel_pitch = 0;
  p.float_result = false;
  return p;
}

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

const WarpgroupShape* find_shape(const WarpgroupConfig& config) {
  const auto* const found = std::find_if(
      std::begin(kWarpgroupShapes), std::end(kWarpgroupShapes), [&](const WarpgroupShape& shape) {
        return shape.tile_m == config.tile_m && shape.tile_n == config.tile_n;
      });
  return found == std::end(kWarpgroupShapes) ? nullptr : found;
}

/// Blocks that a multiprocessor holds at once: what nvcc 13.0 gives a thread are its sums and some 40
/// registers.
int64_t resident(const ByteProblem& problem, const WarpgroupConfig& config, const WarpgroupShape& shape,
                 const DeviceProperties& device) {
  constexpr int64_t kRegisters = 65536;
  const int64_t sums = int64_t{config.tile_m} / shape.groups / 64 * config.tile_n / 2;
  const int64_t by_registers = kRegisters / ((sums + 32) * (shape.groups * 128 + 64));
  const int64_t by_memory =
      (device.shared_memory + 1024) / (byte_shared_bytes(config, shape.groups, row_bytes(problem)) + 1024);
  return std::clamp<int64_t>(std::min(by_registers, by_memory), 1, 8);
}

/// Microseconds that a configuration may take. As the guess of the warpgroup GEMM, but that what is behind
/// the sums takes as long as they do: some five instructions a number, which blocks beside each other hide.
double guess(const ByteProblem& problem, const WarpgroupConfig& config, const DeviceProperties& device) {
  constexpr double kClocksPerMicrosecond = 1700;
  constexpr double kLoadedBytesPerClock = 90;
  constexpr double kStoredBytesPerClock = 40;
  constexpr double kNumbersPerClock = 25;
  constexpr double kTurn = 90;
  const WarpgroupShape& shape = *find_shape(config);
  const auto steps = static_cast<double>(warpgroup_depth_steps(in_pairs(problem)));
  const double numbers = static_cast<double>(config.tile_m) * config.tile_n;
  const double loads = steps * (config.tile_m + config.tile_n) * row_bytes(problem) / kLoadedBytesPerClock;
  const double rate = 4096 * std::min(1.0, (config.tile_n + 48) / 176.0);
  const double products = steps * numbers * row_bytes(problem) / rate;
  const double finish = numbers / kNumbersPerClock;
  const double moved = numbers * (problem.function == ByteFunction::kAdd ? 2 : 1) / kStoredBytesPerClock;
  const int64_t tiles =
      ceil_divide(problem.shape.rows(), config.tile_m) * ceil_divide(problem.shape.filters, config.tile_n);
  const auto of_one = static_cast<double>(ceil_divide(tiles, device.multiprocessors));
  const double beside = std::min(of_one, static_cast<double>(resident(problem, config, shape, device)));
  const double busy = of_one * std::max({loads, products, finish, moved});
  const double alone = steps * std::max(kTurn, products / steps) + finish * 2 / shape.groups + 600;
  return (std::max(busy, std::ceil(of_one / beside) * alone) + 1800) / kClocksPerMicrosecond;
}

/// Boxes of 64 rows and a slab's channels of y, or of its summand.
bool map_rows(const ByteProblem& problem, const WarpgroupConfig& config, const void* y, CUtensorMap& map) {
  const int channels = byte_slab_channels(config.tile_n);
  const CUtensorMapSwizzle swizzle = channels == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : channels == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                      : CU_TENSOR_MAP_SWIZZLE_32B;
  return encode_boxes(map, Element::kHalf, y, {problem.shape.filters / 2, problem.shape.rows()},
                      {channels / 2, 64}, swizzle);
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
  if (!set_source(pairs, config, args.x, args.w, params, row_bytes(problem) / 2))
    return cudaErrorInvalidValue;
  params.depth_steps = static_cast<int>(warpgroup_depth_steps(pairs));
  ConvArgs result;
  result.y = args.y;
  result.w = args.w;
  result.next_waits = args.next_waits;
  set_result(pairs, config, result, params);
  params.epilogue.filters = problem.shape.filters;
  params.scales = args.scales;
  params.bias = args.bias;
  params.finish = args.finish;
  constexpr uint32_t kFlip = 0x80808080;
  const bool bytes = problem.result == ByteResult::kBytes;
  const bool flips_operand = bytes && args.operand != nullptr && !args.finish.operand_unsigned;
  if (bytes && args.finish.zero_point != 0) params.finish.clamps = true;
  params.flip = bytes && !args.finish.unsigned_y ? kFlip : 0;
  params.operand_flip = flips_operand ? kFlip : 0;
  params.operand_offset = args.operand == nullptr ? 0 : args.finish.operand_offset;
  if (flips_operand) params.operand_offset -= 128 * args.finish.operand_factor;
  params.unsigned_x = problem.unsigned_x;
  params.has_operand = args.operand != nullptr;
  params.floats = args.operand;
  if (bytes) {
    if (!map_rows(problem, config, args.y, params.output)) return cudaErrorInvalidValue;
    if (args.operand != nullptr && !map_rows(problem, config, args.operand, params.operand))
      return cudaErrorInvalidValue;
  }

  const WarpgroupShape* const shape = find_shape(config);
  GemmLaunch launch;
  launch.function = (*find_table(problem))[static_cast<size_t>(shape - std::begin(kWarpgroupShapes))];
  launch.threads = shape->groups * 128 + 64;
  launch.shared_bytes = byte_shared_bytes(config, shape->groups, row_bytes(problem));
  if (const cudaError_t error = resident_blocks(launch, device, launch.blocks); error != cudaSuccess)
    return error;
  if (launch.blocks == 0) return cudaErrorInvalidValue;
  launch.blocks = std::min<int64_t>(launch.blocks, params.tiles);
  return launch_gemm(launch, &params, options);
}

}  // namespace hone::device::cuda
