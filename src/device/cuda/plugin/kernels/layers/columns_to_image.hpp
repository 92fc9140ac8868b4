// Adds blocks at their places in an image: the inverse of cutting an image into columns.
#pragma once

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

/// Images with up to three spatial axes; absent axes (the first ones) keep their defaults.
struct ColumnsToImage {
  static constexpr int kAxes = 3;
  int64_t planes = 1;  ///< images times channels
  int64_t image[kAxes] = {1, 1, 1};
  int64_t block[kAxes] = {1, 1, 1};
  int64_t places[kAxes] = {1, 1, 1};  ///< number of blocks along each axis
  int64_t strides[kAxes] = {1, 1, 1};
  int64_t dilations[kAxes] = {1, 1, 1};
  int64_t pads[kAxes] = {};  ///< padding before the first pixel
};

/// `columns` is [planes][elements of a block][places], and `image` is [planes][pixels]. Sums are float32.
cudaError_t columns_to_image(const void* columns, void* image, FloatType type, const ColumnsToImage& size,
                             const LaunchOptions& options);

}  // namespace hone::device::cuda
