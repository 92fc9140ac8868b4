// Launch of the stem by warpgroups. See warpgroup_stem.hpp.
#include "device/cuda/plugin/kernels/warpgroup_stem.hpp"

#include <algorithm>

#include "device/cuda/plugin/kernels/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/tensor_maps.hpp"
#include "device/cuda/plugin/kernels/warpgroup_stem_kernel.cuh"

namespace hone::device::cuda {
namespace {

/// What windows start apart: as far as rows of a matrix without swizzling lie.
constexpr int kWindowBytes = 16;
constexpr int kTile = 16;  ///< outputs, in both directions

ResidentPatch tile_patch(const ConvProblem& windows) {
  ResidentPatch patch;
  patch.tile_h = patch.tile_w = kTile;
  patch.tiles_y = (windows.out_height() + kTile - 1) / kTile;
  patch.tiles_x = (windows.out_width() + kTile - 1) / kTile;
  patch.height = (kTile - 1) * windows.stride_h + windows.kernel_h;
  patch.width = (kTile - 1) * windows.stride_w + windows.kernel_w;
  return patch;
}

struct StemMemory {
  int64_t weights_at;
  int64_t patch_at;
  int64_t total;
};

StemMemory stem_memory(const StemLayout& layout, const StemConfig& config, const ResidentPatch& patch) {
  StemMemory memory;
  memory.weights_at = int64_t{kTile} * kTile * config.tile_n * 2;
  memory.patch_at = memory.weights_at + layout.problem.depth() * config.tile_n * 2;
  memory.total = memory.patch_at + int64_t{patch.height} * patch.width * layout.pixel_channels * 2;
  return memory;
}

template <class T, int kN, int kChannels>
const void* kernel_of(StreamKind kind) {
  return kind == StreamKind::kSwish
             ? reinterpret_cast<const void*>(&warpgroup_stem<T, kN, kChannels, StreamKind::kSwish>)
             : reinterpret_cast<const void*>(&warpgroup_stem<T, kN, kChannels, StreamKind::kBounds>);
}

template <class T>
const void* find_kernel(const StemLayout& layout, const StemConfig& config, StreamKind kind) {
  const bool narrow = layout.pixel_channels == 4;
  if (config.tile_n == 64) return narrow ? kernel_of<T, 64, 4>(kind) : kernel_of<T, 64, 8>(kind);
  return narrow ? kernel_of<T, 32, 4>(kind) : kernel_of<T, 32, 8>(kind);
}

/// Boxes of 8 x 8 pixels of y; what lies outside of an image is not written.
CUresult map_output(const ConvProblem& p, const StemConfig& config, void* y, CUtensorMap& map) {
  const auto filters = static_cast<cuuint64_t>(p.filters);
  const auto width = static_cast<cuuint64_t>(p.out_width());
  const auto height = static_cast<cuuint64_t>(p.out_height());
  const cuuint64_t extents[] = {filters, width, height, static_cast<cuuint64_t>(p.batch)};
  const cuuint64_t pitches[] = {filters * 2, width * filters * 2, height * width * filters * 2};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(config.tile_n), 8, 8, 1};
  const cuuint32_t strides[] = {1, 1, 1, 1};
  return map_encoders().tiled(&map, map_type(p.element), 4, y, extents, pitches, box, strides,
                              CU_TENSOR_MAP_INTERLEAVE_NONE,
                              config.tile_n == 64 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B,
                              CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

}  // namespace

std::string warpgroup_stem_refusal(const StemLayout& layout, const StemConfig& config,
                                   const DeviceLimits& device) {
  if (config.tile_m != kTile * kTile || (config.tile_n != 64 && config.tile_n != 32))
    return "no kernel has the tile of " + config.text();
  if (!device.warpgroups) return "it is for compute capability 9.0";
  const ConvProblem windows = window_problem(layout);
  const ResidentPatch patch = tile_patch(windows);
  if (windows.stride_w * layout.pixel_channels * 2 != kWindowBytes || windows.dilation_h != 1 ||
      patch.width * layout.pixel_channels * 2 % kWindowBytes != 0)
    return "its windows do not start 16 bytes apart";
  if (stem_memory(layout, config, patch).total > device.shared_memory)
    return "its operands are larger than the shared memory of a block";
  return {};
}

cudaError_t launch_warpgroup_stem(const StemLayout& layout, const StemConfig& config, const ConvArgs& args,
                                  bool pdl, cudaStream_t stream) {
  DeviceLimits limits;
  if (const cudaError_t error = device_limits(limits); error != cudaSuccess) return error;
  const std::optional<StreamEpilogue> finish = stream_epilogue(args);
  if (!finish || finish->kind == StreamKind::kAdd) return cudaErrorInvalidValue;
  if (map_encoders().tiled == nullptr) return cudaErrorNotSupported;
  const ConvProblem windows = window_problem(layout);
  const ResidentPatch patch = tile_patch(windows);
  const StemMemory memory = stem_memory(layout, config, patch);
  WarpgroupStemParams params{};
  set_stem(layout, windows, patch, config, args, params);
  params.finish = *finish;
  params.weights_at = static_cast<int>(memory.weights_at);
  params.gemm.patch_at = static_cast<int>(memory.patch_at);
  if (map_output(windows, config, args.y, params.output) != CUDA_SUCCESS) return cudaErrorInvalidValue;

  GemmLaunch launch;
  launch.function = windows.element == Element::kHalf
                        ? find_kernel<__half>(layout, config, finish->kind)
                        : find_kernel<__nv_bfloat16>(layout, config, finish->kind);
  launch.threads = kStemThreads;
  launch.shared_bytes = memory.total;
  launch.pdl = pdl;
  int64_t resident = 0;
  if (const cudaError_t error = resident_blocks(launch, limits, resident); error != cudaSuccess) return error;
  // As many blocks as run at once, the same number for every tile of filters.
  const int64_t tiles_n = params.gemm.tiles_n.divisor;
  launch.blocks = std::min<int64_t>(params.tiles_m, std::max<int64_t>(1, resident / tiles_n)) * tiles_n;
  return launch_gemm(launch, limits, &params, stream);
}

}  // namespace hone::device::cuda
