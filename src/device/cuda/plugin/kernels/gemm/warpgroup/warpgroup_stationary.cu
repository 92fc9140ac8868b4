// Tensor maps and launch of warpgroup_stationary.hpp.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_stationary.hpp"

#include <algorithm>
#include <utility>

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/common/tensor_maps.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_epilogue.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_stationary_kernel.cuh"

namespace hone::device::cuda {
namespace {

template <class T, int kParts>
const void* kernel_of(int columns) {
  if (columns == 56) return kernel_address(&warpgroup_stationary<T, 56, kParts>);
  return columns == 104 ? kernel_address(&warpgroup_stationary<T, 104, kParts>)
                        : kernel_address(&warpgroup_stationary<T, 120, kParts>);
}

template <class T>
const void* kernel_of(const StationaryPlan& plan) {
  if (plan.parts == 1) return kernel_of<T, 1>(plan.columns);
  return plan.parts == 2 ? kernel_of<T, 2>(plan.columns) : kernel_of<T, 4>(plan.columns);
}

/// The number of tiles that each block computes in turn: the smallest with which all tiles are in progress at
/// once, but at most the number for which a block has room. A block's filters leave no room for a second
/// block on its multiprocessor.
int64_t tiles_a_block(const DeviceProperties& device, const StationaryPlan& plan, int64_t tiles,
                      int64_t filter_groups) {
  const int64_t at_once = std::max<int64_t>(1, device.clusters_at_once(plan.parts) / filter_groups);
  return std::min<int64_t>(plan.most_tiles, (tiles + at_once - 1) / at_once);
}

}  // namespace

cudaError_t launch_warpgroup_stationary(const ConvProblem& problem, const ConvArgs& args,
                                        const LaunchOptions& options) {
  const DeviceProperties& device = *options.device;
  const std::optional<StreamEpilogue> steps = stream_epilogue(args);
  if (warpgroup_stationary_refusal(problem, device) || !steps || !valid_steps(args) ||
      !has_bounds(steps->kind))
    return cudaErrorInvalidValue;
  const void* const operand = steps->kind == StreamKind::kAdd ? args.steps[0].operand : nullptr;
  for (const void* pointer : {args.x, args.w, operand, static_cast<const void*>(args.y)}) {
    if (!is_aligned(pointer)) return cudaErrorInvalidValue;
  }
  if (problem.batch == 0) return cudaSuccess;
  if (map_encoders().tiled == nullptr) return cudaErrorNotSupported;

  const StationaryPlan plan = StationaryPlan::of(problem, device);
  const int64_t tiles = int64_t{problem.batch} * plan.strips;
  const int64_t filter_groups = problem.filters / StationaryPlan::kFilters;
  GemmLaunch launch;
  launch.threads = kStationaryThreads;
  launch.cluster = plan.parts;
  launch.function =
      problem.element == Element::kHalf ? kernel_of<__half>(plan) : kernel_of<__nv_bfloat16>(plan);
  const int64_t of_block = tiles_a_block(device, plan, tiles, filter_groups);
  launch.shared_bytes = plan.shared_bytes(of_block);

  StationaryParams p{};
  if (!encode_boxes(p.x, problem.element, args.x,
                    {problem.channels, problem.width, problem.height, problem.batch},
                    {64, problem.width + 1, plan.rows + 3, 1}))
    return cudaErrorInvalidValue;
  p.filters = args.w;
  p.bias = args.bias;
  p.operand = operand;
  p.y = args.y;
  p.epilogue = *steps;
  p.pitch = FastDivisor(problem.width + 1);
  p.strips = FastDivisor(plan.strips);
  p.filter_groups = FastDivisor(filter_groups);
  p.width = problem.width;
  p.height = problem.height;
  p.rows = plan.rows;
  p.tiles = static_cast<int>(tiles);
  p.tile_groups = static_cast<int>((tiles + of_block - 1) / of_block);
  p.slab_bytes = plan.slab_bytes;
  p.next_waits = args.next_waits;
  launch.blocks = p.tile_groups * filter_groups * plan.parts;
  return launch_gemm(launch, &p, options);
}

}  // namespace hone::device::cuda
