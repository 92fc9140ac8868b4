// The common part of the kernels that take a stem straight from the image: its tiles, and the planes of the
// image under each. Internal.
#pragma once

#include <cuda.h>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/common/conv_problem.hpp"
#include "device/cuda/plugin/kernels/common/fast_divisor.hpp"
#include "device/cuda/regions/stem/plugin/kernels/stem.hpp"

namespace hone::device::cuda {

/// The copy unit begins a row at a multiple of 16 bytes: four floats.
inline constexpr int kStemColumns = 4;

/// The tiles of one kernel. A tile's pool has windows of three, two apart, inside of the tile.
struct StemTiles {
  int rows;  ///< outputs of the convolution
  int columns;
  int filters;
  int pooled_rows;
  int pooled_columns;
};

/// The part of an image under a tile, in rows that begin where the copy unit can.
struct StemPatch {
  int height;
  int width;

  StemPatch(const ConvProblem& windows, const StemTiles& tiles)
      : height((tiles.rows - 1) * windows.stride_h + windows.kernel_h),
        width(((tiles.columns - 1) * windows.stride_w + windows.kernel_w + 2 * kStemColumns - 1) /
              kStemColumns * kStemColumns) {}
  int64_t pixels() const { return int64_t{height} * width; }
};

/// The parameters of both for such a kernel.
struct StemPlanes {
  CUtensorMap image;  ///< [images][channels][rows][columns] of float32
  FastDivisor tiles_n;
  FastDivisor tiles_x;
  FastDivisor tiles_y;
  int tiles_m;
  int step_y;  ///< outputs of the convolution from one tile to the next
  int step_x;
  int first_y;  ///< where the tiles begin in the outputs of the convolution: -1 under a padded pool
  int first_x;
  int out_height;
  int out_width;
  int pooled_height;
  int pooled_width;
  int image_channels;
  int stride_h;
  int stride_w;
  int pad_top;
  int pad_left;
  int patch_height;
  int patch_width;
};

/// Why the copy unit does not bring those planes; empty when it does. `windows` is window_problem().
Refusal stem_planes_refusal(const StemLayout& layout, const ConvProblem& windows, const StemTiles& tiles);

/// Fills `planes` for an image in memory; cudaErrorInvalidValue where the driver takes no such map.
cudaError_t set_stem_planes(const StemLayout& layout, const ConvProblem& windows, const StemTiles& tiles,
                            const void* image, StemPlanes& planes);

}  // namespace hone::device::cuda
