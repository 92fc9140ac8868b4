// Launch of the stem by warpgroups. See warpgroup_stem.hpp.
#include "device/cuda/regions/stem/plugin/kernels/warpgroup_stem.hpp"

#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/common/tensor_maps.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/regions/stem/plugin/kernels/stem_gemm_params.hpp"
#include "device/cuda/regions/stem/plugin/kernels/warpgroup_stem_kernel.cuh"

namespace hone::device::cuda {
namespace {

constexpr StemTiles tiles_of(const StemConfig& config) {
  return {kStemTile, kStemTile, config.tile_n, kPooledTile, kPooledTile};
}

/// Outputs, filters, patch (which may begin a pixel later), planes and two barriers, one after the other.
struct StemMemory {
  int64_t weights_at;
  int64_t patch_at;
  int64_t planes_at;
  int64_t barrier_at;
  int64_t total;

  StemMemory(const StemLayout& layout, const StemConfig& config, const StemPatch& patch)
      : weights_at(int64_t{config.tile_m} * config.tile_n * 2),
        patch_at(weights_at + layout.problem.depth() * config.tile_n * 2),
        planes_at((patch_at + (patch.pixels() + 1) * layout.pixel_channels * 2 + 127) / 128 * 128),
        barrier_at((planes_at + patch.pixels() * layout.image_channels * 4 + 7) / 8 * 8),
        total(barrier_at + 2 * 8) {}
};

template <class T, int kN, int kChannels>
const void* kernel_of(StreamKind kind, bool pool) {
  if (kind == StreamKind::kSwish)
    return kernel_address(&warpgroup_stem<T, kN, kChannels, StreamKind::kSwish, false>);
  if (kind == StreamKind::kHardSwish)
    return kernel_address(&warpgroup_stem<T, kN, kChannels, StreamKind::kHardSwish, false>);
  return pool ? kernel_address(&warpgroup_stem<T, kN, kChannels, StreamKind::kBounds, true>)
              : kernel_address(&warpgroup_stem<T, kN, kChannels, StreamKind::kBounds, false>);
}

template <class T>
const void* find_kernel(const StemLayout& layout, const StemConfig& config, StreamKind kind) {
  const bool narrow = layout.pixel_channels == 4;
  const bool pool = layout.pool.has_value();
  if (config.tile_n == 64) return narrow ? kernel_of<T, 64, 4>(kind, pool) : kernel_of<T, 64, 8>(kind, pool);
  return narrow ? kernel_of<T, 32, 4>(kind, pool) : kernel_of<T, 32, 8>(kind, pool);
}

/// Boxes of 8 x 8 pixels of y; what lies outside of an image is not written.
CUresult map_output(const ConvProblem& p, const StemConfig& config, void* y, CUtensorMap& map) {
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(p.filters), static_cast<cuuint64_t>(p.out_width()),
                                static_cast<cuuint64_t>(p.out_height()), static_cast<cuuint64_t>(p.batch)};
  const cuuint64_t pixel = extents[0] * 2;
  const cuuint64_t pitches[] = {pixel, extents[1] * pixel, extents[2] * extents[1] * pixel};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(config.tile_n), 8, 8, 1};
  const cuuint32_t strides[] = {1, 1, 1, 1};
  return map_encoders().tiled(&map, map_type(p.element), 4, y, extents, pitches, box, strides,
                              CU_TENSOR_MAP_INTERLEAVE_NONE,
                              config.tile_n == 64 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B,
                              CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/// All but the planes.
void set_kernel(const StemLayout& layout, const ConvProblem& windows, const StemMemory& memory,
                const ConvArgs& args, WarpgroupStemParams& params) {
  params.epilogue = make_epilogue(windows, args);
  params.w = args.w;
  params.kernel_h = windows.kernel_h;
  params.row_steps = layout.problem.channels / 16;
  params.weights_at = static_cast<int>(memory.weights_at);
  params.patch_at = static_cast<int>(memory.patch_at);
  params.planes_at = static_cast<int>(memory.planes_at);
  params.barrier_at = static_cast<int>(memory.barrier_at);
  params.next_waits = args.next_waits;
}

}  // namespace

Refusal warpgroup_stem_refusal(const StemLayout& layout, const StemConfig& config,
                               const DeviceProperties& device) {
  if (config.tile_m != kStemTile * kStemTile || (config.tile_n != 64 && config.tile_n != 32))
    return "no kernel has the tile of " + config.text();
  if (!device.warpgroups) return "it is for compute capability 9.0";
  const ConvProblem windows = window_problem(layout);
  const StemTiles tiles = tiles_of(config);
  if (Refusal reason = stem_planes_refusal(layout, windows, tiles)) return reason;
  if (StemMemory(layout, config, StemPatch(windows, tiles)).total > device.shared_memory)
    return "its operands are larger than the shared memory of a block";
  return {};
}

cudaError_t launch_warpgroup_stem(const StemLayout& layout, const StemConfig& config, const ConvArgs& args,
                                  const LaunchOptions& options) {
  const std::optional<StreamEpilogue> finish = stream_epilogue(args);
  if (!finish || !is_mobile(finish->kind) || (layout.pool && finish->kind != StreamKind::kBounds))
    return cudaErrorInvalidValue;
  const ConvProblem windows = window_problem(layout);
  const StemTiles tiles = tiles_of(config);
  const StemMemory memory(layout, config, StemPatch(windows, tiles));
  WarpgroupStemParams params{};
  params.finish = *finish;
  set_kernel(layout, windows, memory, args, params);
  if (const cudaError_t error = set_stem_planes(layout, windows, tiles, args.x, params); error != cudaSuccess)
    return error;
  if (!layout.pool && map_output(windows, config, args.y, params.output) != CUDA_SUCCESS)
    return cudaErrorInvalidValue;

  GemmLaunch launch;
  launch.function = windows.element == Element::kHalf
                        ? find_kernel<__half>(layout, config, finish->kind)
                        : find_kernel<__nv_bfloat16>(layout, config, finish->kind);
  launch.threads = kStemThreads;
  launch.shared_bytes = memory.total;
  return launch_resident_tiles(launch, params.tiles_m, params.tiles_n.divisor, &params, options);
}

}  // namespace hone::device::cuda
