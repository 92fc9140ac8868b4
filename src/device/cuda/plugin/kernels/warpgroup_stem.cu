// Launch of the stem by warpgroups. See warpgroup_stem.hpp.
#include "device/cuda/plugin/kernels/warpgroup_stem.hpp"

#include <algorithm>

#include "device/cuda/plugin/kernels/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/kernel_address.hpp"
#include "device/cuda/plugin/kernels/stem_gemm_params.hpp"
#include "device/cuda/plugin/kernels/tensor_maps.hpp"
#include "device/cuda/plugin/kernels/warpgroup_stem_kernel.cuh"

namespace hone::device::cuda {
namespace {

/// What windows start apart: as far as rows of a matrix without swizzling lie.
constexpr int kWindowBytes = 16;

/// Elements of a box in each direction, at most.
constexpr int kMostBox = 256;

/// The part of an image under a tile, in rows that begin where the copy unit can.
struct StemPatch {
  int height;
  int width;

  explicit StemPatch(const ConvProblem& windows)
      : height((kStemTile - 1) * windows.stride_h + windows.kernel_h),
        width(((kStemTile - 1) * windows.stride_w + windows.kernel_w + 2 * kStemColumns - 1) / kStemColumns *
              kStemColumns) {}
  int64_t pixels() const { return int64_t{height} * width; }
};

/// Outputs, filters, patch (which may begin a pixel later), planes and two barriers, one behind the other.
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

CUresult encode(CUtensorMapDataType type, const void* tensor, const cuuint64_t (&extents)[4],
                cuuint64_t element, const cuuint32_t (&box)[4], CUtensorMapSwizzle swizzle,
                CUtensorMap& map) {
  const cuuint64_t row = extents[0] * element;
  const cuuint64_t pitches[] = {row, extents[1] * row, extents[2] * extents[1] * row};
  const cuuint32_t strides[] = {1, 1, 1, 1};
  return map_encoders().tiled(&map, type, 4, const_cast<void*>(tensor), extents, pitches, box, strides,
                              CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                              CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/// Boxes of all planes of the image under a tile; what lies outside of it is zero.
CUresult map_image(const StemLayout& layout, const StemPatch& patch, const void* image, CUtensorMap& map) {
  const auto channels = static_cast<cuuint64_t>(layout.image_channels);
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(layout.image_width),
                                static_cast<cuuint64_t>(layout.image_height), channels,
                                static_cast<cuuint64_t>(layout.problem.batch)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(patch.width), static_cast<cuuint32_t>(patch.height),
                            static_cast<cuuint32_t>(channels), 1};
  return encode(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, image, extents, sizeof(float), box,
                CU_TENSOR_MAP_SWIZZLE_NONE, map);
}

/// Boxes of 8 x 8 pixels of y; what lies outside of an image is not written.
CUresult map_output(const ConvProblem& p, const StemConfig& config, void* y, CUtensorMap& map) {
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(p.filters), static_cast<cuuint64_t>(p.out_width()),
                                static_cast<cuuint64_t>(p.out_height()), static_cast<cuuint64_t>(p.batch)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(config.tile_n), 8, 8, 1};
  return encode(map_type(p.element), y, extents, 2, box,
                config.tile_n == 64 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B, map);
}

/// Tiles, and where they lie in the outputs. `windows` is window_problem().
void set_tiles(const StemLayout& layout, const ConvProblem& windows, const StemConfig& config,
               WarpgroupStemParams& params) {
  params.out_height = windows.out_height();
  params.out_width = windows.out_width();
  int height = params.out_height;
  int width = params.out_width;
  int step = kStemTile;
  params.tile_step = kStemTile;
  if (layout.pool) {
    height = params.pooled_height = layout.pool->out_height;
    width = params.pooled_width = layout.pool->out_width;
    step = kPooledTile;
    params.tile_step = 2 * kPooledTile;
    params.first_y = -layout.pool->pad_top;
    params.first_x = -layout.pool->pad_left;
  }
  const int tiles_y = (height + step - 1) / step;
  const int tiles_x = (width + step - 1) / step;
  params.tiles_y = FastDivisor(tiles_y);
  params.tiles_x = FastDivisor(tiles_x);
  params.tiles_m = windows.batch * tiles_y * tiles_x;
  params.tiles_n = FastDivisor((windows.filters + config.tile_n - 1) / config.tile_n);
}

WarpgroupStemParams make_params(const StemLayout& layout, const ConvProblem& windows,
                                const StemConfig& config, const ConvArgs& args,
                                const StreamEpilogue& finish) {
  const StemPatch patch(windows);
  const StemMemory memory(layout, config, patch);
  WarpgroupStemParams params{};
  set_tiles(layout, windows, config, params);
  params.epilogue = make_epilogue(windows, args);
  params.finish = finish;
  params.w = args.w;
  params.image_channels = layout.image_channels;
  params.kernel_h = windows.kernel_h;
  params.row_steps = layout.problem.channels / 16;
  params.stride_h = windows.stride_h;
  params.stride_w = windows.stride_w;
  params.pad_top = windows.pad_top;
  params.pad_left = windows.pad_left;
  params.patch_height = patch.height;
  params.patch_width = patch.width;
  params.weights_at = static_cast<int>(memory.weights_at);
  params.patch_at = static_cast<int>(memory.patch_at);
  params.planes_at = static_cast<int>(memory.planes_at);
  params.barrier_at = static_cast<int>(memory.barrier_at);
  params.next_waits = args.next_waits;
  return params;
}

}  // namespace

std::string warpgroup_stem_refusal(const StemLayout& layout, const StemConfig& config,
                                   const DeviceLimits& device) {
  if (config.tile_m != kStemTile * kStemTile || (config.tile_n != 64 && config.tile_n != 32))
    return "no kernel has the tile of " + config.text();
  if (!device.warpgroups) return "it is for compute capability 9.0";
  const ConvProblem windows = window_problem(layout);
  if (windows.stride_w * layout.pixel_channels * 2 != kWindowBytes || windows.dilation_h != 1)
    return "its windows do not start 16 bytes apart";
  if (layout.image_width % kStemColumns != 0) return "rows of its image do not start 16 bytes apart";
  const StemPatch patch(windows);
  if (patch.height > kMostBox || patch.width > kMostBox)
    return "its patch is larger than the copy unit takes";
  if (StemMemory(layout, config, patch).total > device.shared_memory)
    return "its operands are larger than the shared memory of a block";
  return {};
}

cudaError_t launch_warpgroup_stem(const StemLayout& layout, const StemConfig& config, const ConvArgs& args,
                                  bool pdl, cudaStream_t stream) {
  DeviceLimits limits;
  if (const cudaError_t error = device_limits(limits); error != cudaSuccess) return error;
  const std::optional<StreamEpilogue> finish = stream_epilogue(args);
  if (!finish || finish->kind == StreamKind::kAdd || (layout.pool && finish->kind == StreamKind::kSwish))
    return cudaErrorInvalidValue;
  if (map_encoders().tiled == nullptr) return cudaErrorNotSupported;
  const ConvProblem windows = window_problem(layout);
  WarpgroupStemParams params = make_params(layout, windows, config, args, *finish);
  if (map_image(layout, StemPatch(windows), args.x, params.image) != CUDA_SUCCESS)
    return cudaErrorInvalidValue;
  if (!layout.pool && map_output(windows, config, args.y, params.output) != CUDA_SUCCESS)
    return cudaErrorInvalidValue;

  GemmLaunch launch;
  launch.function = windows.element == Element::kHalf
                        ? find_kernel<__half>(layout, config, finish->kind)
                        : find_kernel<__nv_bfloat16>(layout, config, finish->kind);
  launch.threads = kStemThreads;
  launch.shared_bytes = StemMemory(layout, config, StemPatch(windows)).total;
  launch.pdl = pdl;
  int64_t resident = 0;
  if (const cudaError_t error = resident_blocks(launch, limits, resident); error != cudaSuccess) return error;
  // As many blocks as run at once, the same number for every tile of filters.
  const int64_t tiles_n = params.tiles_n.divisor;
  launch.blocks = std::min<int64_t>(params.tiles_m, std::max<int64_t>(1, resident / tiles_n)) * tiles_n;
  return launch_gemm(launch, limits, &params, stream);
}

}  // namespace hone::device::cuda
