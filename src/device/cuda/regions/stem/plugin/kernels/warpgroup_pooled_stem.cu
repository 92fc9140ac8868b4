// Launch of the pooled stem. See warpgroup_pooled_stem.hpp.
#include "device/cuda/regions/stem/plugin/kernels/warpgroup_pooled_stem.hpp"

#include <algorithm>

#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/common/tensor_maps.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/regions/stem/plugin/kernels/stem_gemm_params.hpp"
#include "device/cuda/regions/stem/plugin/kernels/warpgroup_pooled_stem_kernel.cuh"

namespace hone::device::cuda {
namespace {

struct PooledStemKernel {
  StemTiles tiles;
  int output_bytes;
  // Indexed by whether a convolution follows.
  const void* half[2];
  const void* bfloat16[2];
};

template <class TileT>
PooledStemKernel kernel_of() {
  return {TileT::kTiles,
          TileT::kBytes,
          {kernel_address(&warpgroup_pooled_stem<__half, TileT, false>),
           kernel_address(&warpgroup_pooled_stem<__half, TileT, true>)},
          {kernel_address(&warpgroup_pooled_stem<__nv_bfloat16, TileT, false>),
           kernel_address(&warpgroup_pooled_stem<__nv_bfloat16, TileT, true>)}};
}

/// Null for a tile that no kernel has.
const PooledStemKernel* find_kernel(const StemConfig& config) {
  static const PooledStemKernel kKernels[] = {kernel_of<PooledStemTile<7>>(), kernel_of<PooledStemTile<4>>()};
  const auto* const found =
      std::find_if(std::begin(kKernels), std::end(kKernels), [&](const PooledStemKernel& kernel) {
        return kernel.tiles.rows * kernel.tiles.columns == config.tile_m &&
               kernel.tiles.filters == config.tile_n;
      });
  return found == std::end(kKernels) ? nullptr : found;
}

/// Outputs, also of a convolution that follows, patches (which may begin a pixel later), planes and filters
/// of the next convolution, of each warpgroup that multiplies, and the barriers, one after the other.
struct PooledStemMemory {
  int64_t patch_at;
  int64_t patch_bytes;
  int64_t planes_at;
  int64_t planes_bytes;
  int64_t next_at;
  int64_t barrier_at;
  int64_t total;

  PooledStemMemory(const StemLayout& layout, const PooledStemKernel& kernel, const StemPatch& patch,
                   bool next)
      : patch_at(int64_t{PooledStemGroups::kMultiply} * (next ? 2 : 1) * kernel.output_bytes),
        patch_bytes(aligned((patch.pixels() + 1) * layout.pixel_channels * 2)),
        planes_at(patch_at + PooledStemGroups::kMultiply * patch_bytes),
        planes_bytes(aligned(patch.pixels() * layout.image_channels * 4)),
        next_at(planes_at + PooledStemGroups::kMultiply * planes_bytes),
        barrier_at(next_at + (next ? PooledStemGroups::kMultiply * kStemNextBytes : 0)),
        total(barrier_at + PooledStemGroups::kBarriers * 8) {}

 private:
  static int64_t aligned(int64_t bytes) { return (bytes + 127) / 128 * 128; }
};

/// A tile's outputs of the pool, 64 filters each.
bool map_outputs(const StemLayout& layout, const StemTiles& tiles, const void* memory, CUtensorMap& map) {
  const ConvProblem& p = layout.problem;
  return encode_boxes(map, p.element, memory,
                      {p.filters, layout.pool->out_width, layout.pool->out_height, p.batch},
                      {kPooledStemFilters, tiles.pooled_columns, tiles.pooled_rows, 1});
}

}  // namespace

Refusal warpgroup_pooled_stem_refusal(const StemLayout& layout, const StemConfig& config,
                                      const DeviceProperties& device) {
  const PooledStemKernel* const kernel = find_kernel(config);
  if (kernel == nullptr) return "no kernel has the tile of " + config.text();
  if (!device.warpgroups) return "it is for compute capability 9.0";
  if (!layout.pool) return "it is for stems with a pool";
  const ConvProblem windows = window_problem(layout);
  if (layout.pixel_channels != 4 || windows.kernel_h != kPooledStemRows || windows.kernel_w != 8)
    return "its windows are not of seven rows of five to eight pixels of four channels at most";
  if (windows.filters % kPooledStemFilters != 0) return "its filters are no multiple of 64";
  if (Refusal reason = stem_planes_refusal(layout, windows, kernel->tiles)) return reason;
  if (PooledStemMemory(layout, *kernel, StemPatch(windows, kernel->tiles), true).total > device.shared_memory)
    return "its operands are larger than the shared memory of a block";
  return {};
}

cudaError_t launch_warpgroup_pooled_stem(const StemLayout& layout, const StemConfig& config,
                                         const ConvArgs& args, const StemNext* next,
                                         const LaunchOptions& options) {
  const std::optional<StreamEpilogue> finish = stream_epilogue(args);
  if (!finish || finish->kind != StreamKind::kBounds) return cudaErrorInvalidValue;
  const PooledStemKernel& kernel = *find_kernel(config);
  const ConvProblem windows = window_problem(layout);
  const PooledStemMemory memory(layout, kernel, StemPatch(windows, kernel.tiles), next != nullptr);
  PooledStemParams params{};
  if (const cudaError_t error = set_stem_planes(layout, windows, kernel.tiles, args.x, params);
      error != cudaSuccess)
    return error;
  if (!map_outputs(layout, kernel.tiles, args.y, params.pooled) ||
      (next != nullptr && !map_outputs(layout, kernel.tiles, next->y, params.behind)))
    return cudaErrorInvalidValue;
  params.finish = *finish;
  if (next != nullptr) params.next = *next;
  params.w = args.w;
  params.bias = args.bias;
  params.patch_at = static_cast<int>(memory.patch_at);
  params.patch_bytes = static_cast<int>(memory.patch_bytes);
  params.planes_at = static_cast<int>(memory.planes_at);
  params.planes_bytes = static_cast<int>(memory.planes_bytes);
  params.next_at = static_cast<int>(memory.next_at);
  params.barrier_at = static_cast<int>(memory.barrier_at);
  params.next_waits = args.next_waits;

  GemmLaunch launch;
  launch.function = (windows.element == Element::kHalf ? kernel.half : kernel.bfloat16)[next != nullptr];
  launch.threads = PooledStemGroups::kThreads;
  launch.shared_bytes = memory.total;
  return launch_resident_tiles(launch, params.tiles_m, params.tiles_n.divisor, &params, options);
}

}  // namespace hone::device::cuda
