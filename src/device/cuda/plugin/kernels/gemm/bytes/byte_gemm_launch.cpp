// See byte_gemm_launch.hpp.
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm_launch.hpp"

#include <algorithm>
#include <cmath>

#include "device/cuda/plugin/kernels/common/ceil_divide.hpp"
#include "device/cuda/plugin/kernels/common/tensor_maps.hpp"

namespace hone::device::cuda {
namespace {

/// Finds the configuration's tile among the compiled ones; warpgroup_refusal() has checked that it exists.
const WarpgroupShape* find_shape(const WarpgroupConfig& config) {
  return std::find_if(std::begin(kWarpgroupShapes), std::end(kWarpgroupShapes),
                      [&](const WarpgroupShape& shape) {
                        return shape.tile_m == config.tile_m && shape.tile_n == config.tile_n;
                      });
}

/// Blocks that fit on a multiprocessor at once. The registers of a thread are those that nvcc 13.0 allocates:
/// its sums and about 40 more.
int64_t resident(int row_bytes, const WarpgroupConfig& config, const WarpgroupShape& shape,
                 const DeviceProperties& device) {
  constexpr int64_t kRegisters = 65536;
  const int64_t sums = int64_t{config.tile_m} / shape.groups / 64 * config.tile_n / 2;
  const int64_t by_registers = kRegisters / ((sums + 32) * (shape.groups * 128 + 64));
  const int64_t by_memory =
      (device.shared_memory + 1024) / (byte_shared_bytes(config, shape.groups, row_bytes) + 1024);
  return std::clamp<int64_t>(std::min(by_registers, by_memory), 1, 8);
}

}  // namespace

ConvProblem in_pairs(const ByteProblem& problem) {
  ConvProblem p = problem.shape;
  p.element = Element::kHalf;
  p.channels /= 2;
  p.filters = static_cast<int>(byte_filters(problem));
  p.pixel_pitch = 0;
  p.float_result = false;
  return p;
}

ByteEnding byte_ending(const ByteProblem& problem, const ByteArgs& args, bool adds) {
  constexpr uint32_t kFlip = 0x80808080;
  const bool bytes = problem.result == ByteResult::kBytes;
  const bool flips_operand = bytes && adds && !args.finish.operand_unsigned;
  ByteEnding ending{};
  ending.scales = args.scales;
  ending.bias = args.bias;
  ending.finish = args.finish;
  if (bytes && args.finish.zero_point != 0) ending.finish.clamps = true;
  ending.flip = bytes && !args.finish.unsigned_y ? kFlip : 0;
  ending.operand_flip = flips_operand ? kFlip : 0;
  ending.operand_offset = adds ? args.finish.operand_offset : 0;
  if (flips_operand) ending.operand_offset -= 128 * args.finish.operand_factor;
  ending.has_operand = adds;
  return ending;
}

bool set_byte_result(const ByteProblem& problem, const WarpgroupConfig& config, const ByteArgs& args,
                     WarpgroupParams& params) {
  ConvArgs result;
  result.y = args.y;
  result.w = args.w;
  result.next_waits = args.next_waits;
  set_result(in_pairs(problem), config, result, params);
  params.epilogue.filters = problem.shape.filters;
  return problem.result != ByteResult::kBytes || map_byte_rows(problem, config, args.y, params.output);
}

bool map_byte_rows(const ByteProblem& problem, const WarpgroupConfig& config, const void* y,
                   CUtensorMap& map) {
  const int channels = byte_slab_channels(config.tile_n);
  const CUtensorMapSwizzle swizzle = channels == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : channels == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                      : CU_TENSOR_MAP_SWIZZLE_32B;
  return encode_boxes(map, Element::kHalf, y, {problem.shape.filters / 2, problem.shape.rows()},
                      {channels / 2, 64}, swizzle);
}

cudaError_t launch_byte_tiles(const WarpgroupTable& kernels, const WarpgroupConfig& config, int row_bytes,
                              int tiles, const void* params, const LaunchOptions& options) {
  const WarpgroupShape* const shape = find_shape(config);
  GemmLaunch launch;
  launch.function = kernels[static_cast<size_t>(shape - std::begin(kWarpgroupShapes))];
  launch.threads = shape->groups * 128 + 64;
  launch.shared_bytes = byte_shared_bytes(config, shape->groups, row_bytes);
  if (const cudaError_t error = resident_blocks(launch, *options.device, launch.blocks); error != cudaSuccess)
    return error;
  if (launch.blocks == 0) return cudaErrorInvalidValue;
  launch.blocks = std::min<int64_t>(launch.blocks, tiles);
  return launch_gemm(launch, params, options);
}

// Like the guess of the warpgroup GEMM, except that finishing takes as long as the products: about five
// instructions for each number. Several blocks on a multiprocessor hide this time for each other.
double guess_byte_time(const ByteProblem& problem, const ByteTileWork& work, const WarpgroupConfig& config,
                       const DeviceProperties& device) {
  constexpr double kClocksPerMicrosecond = 1700;
  constexpr double kLoadedBytesPerClock = 90;
  constexpr double kStoredBytesPerClock = 40;
  constexpr double kNumbersPerClock = 25;
  constexpr double kTurn = 90;
  const WarpgroupShape& shape = *find_shape(config);
  const auto steps = static_cast<double>(work.depth_steps);
  const double numbers = static_cast<double>(config.tile_m) * config.tile_n;
  const double loads = steps * (config.tile_m + config.tile_n) * work.row_bytes / kLoadedBytesPerClock;
  const double rate = 4096 * std::min(1.0, (config.tile_n + 48) / 176.0);
  const double products = steps * numbers * work.row_bytes / rate;
  const double finish = work.finishes * numbers / kNumbersPerClock;
  const double moved = numbers * work.moves / kStoredBytesPerClock;
  const int64_t tiles =
      ceil_divide(problem.shape.rows(), config.tile_m) * ceil_divide(problem.shape.filters, config.tile_n);
  const auto of_one = static_cast<double>(ceil_divide(tiles, device.multiprocessors));
  const double beside =
      std::min(of_one, static_cast<double>(resident(work.row_bytes, config, shape, device)));
  const double busy = of_one * std::max({loads, products, finish, moved});
  const double alone = steps * std::max(kTurn, products / steps) + finish * 2 / shape.groups + 600;
  return (std::max(busy, std::ceil(of_one / beside) * alone) + 1800) / kClocksPerMicrosecond;
}

}  // namespace hone::device::cuda
