// See stem_planes.hpp.
#include "device/cuda/regions/stem/plugin/kernels/stem_planes.hpp"

#include "device/cuda/plugin/kernels/common/tensor_maps.hpp"

namespace hone::device::cuda {
namespace {

/// The distance between the starts of windows: that of rows of a matrix without swizzling.
constexpr int kWindowBytes = 16;

/// Elements of a box in each direction, at most.
constexpr int kMostBox = 256;

/// Boxes of all planes of the image under a tile; what lies outside of it is zero.
CUresult map_image(const StemLayout& layout, const StemPatch& patch, const void* image, CUtensorMap& map) {
  const auto channels = static_cast<cuuint64_t>(layout.image_channels);
  const auto width = static_cast<cuuint64_t>(layout.image_width);
  const auto height = static_cast<cuuint64_t>(layout.image_height);
  const cuuint64_t row = width * sizeof(float);
  const cuuint64_t extents[] = {width, height, channels, static_cast<cuuint64_t>(layout.problem.batch)};
  const cuuint64_t pitches[] = {row, height * row, channels * height * row};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(patch.width), static_cast<cuuint32_t>(patch.height),
                            static_cast<cuuint32_t>(channels), 1};
  const cuuint32_t strides[] = {1, 1, 1, 1};
  return map_encoders().tiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, const_cast<void*>(image), extents,
                              pitches, box, strides, CU_TENSOR_MAP_INTERLEAVE_NONE,
                              CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                              CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/// Tiles, and where they lie in the outputs.
void set_tiles(const StemLayout& layout, const ConvProblem& windows, const StemTiles& tiles,
               StemPlanes& planes) {
  planes.out_height = windows.out_height();
  planes.out_width = windows.out_width();
  int rows = (planes.out_height + tiles.rows - 1) / tiles.rows;
  int columns = (planes.out_width + tiles.columns - 1) / tiles.columns;
  planes.step_y = tiles.rows;
  planes.step_x = tiles.columns;
  if (layout.pool) {
    planes.pooled_height = layout.pool->out_height;
    planes.pooled_width = layout.pool->out_width;
    rows = (planes.pooled_height + tiles.pooled_rows - 1) / tiles.pooled_rows;
    columns = (planes.pooled_width + tiles.pooled_columns - 1) / tiles.pooled_columns;
    planes.step_y = 2 * tiles.pooled_rows;
    planes.step_x = 2 * tiles.pooled_columns;
    planes.first_y = -layout.pool->pad_top;
    planes.first_x = -layout.pool->pad_left;
  }
  planes.tiles_y = FastDivisor(rows);
  planes.tiles_x = FastDivisor(columns);
  planes.tiles_m = windows.batch * rows * columns;
  planes.tiles_n = FastDivisor((windows.filters + tiles.filters - 1) / tiles.filters);
}

}  // namespace

Refusal stem_planes_refusal(const StemLayout& layout, const ConvProblem& windows, const StemTiles& tiles) {
  if (windows.stride_w * layout.pixel_channels * 2 != kWindowBytes || windows.dilation_h != 1)
    return "its windows do not start 16 bytes apart";
  if (layout.image_width % kStemColumns != 0) return "rows of its image do not start 16 bytes apart";
  const StemPatch patch(windows, tiles);
  if (patch.height > kMostBox || patch.width > kMostBox)
    return "its patch is larger than the copy unit takes";
  return {};
}

cudaError_t set_stem_planes(const StemLayout& layout, const ConvProblem& windows, const StemTiles& tiles,
                            const void* image, StemPlanes& planes) {
  if (map_encoders().tiled == nullptr) return cudaErrorNotSupported;
  const StemPatch patch(windows, tiles);
  set_tiles(layout, windows, tiles, planes);
  planes.image_channels = layout.image_channels;
  planes.stride_h = windows.stride_h;
  planes.stride_w = windows.stride_w;
  planes.pad_top = windows.pad_top;
  planes.pad_left = windows.pad_left;
  planes.patch_height = patch.height;
  planes.patch_width = patch.width;
  return map_image(layout, patch, image, planes.image) == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace hone::device::cuda
