// Copies a tensor to another order or element type.
#pragma once

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

struct ImageSize {
  int64_t batch = 1;
  int64_t channels = 1;
  /// Product of the spatial sizes.
  int64_t pixels = 1;
};

/// Converts `count` elements.
cudaError_t convert(const void* from, FloatType from_type, void* to, FloatType to_type, int64_t count,
                    const LaunchOptions& options);

/// Copies an image in the first order and type to an image in the second.
cudaError_t reorder(const void* from, FloatType from_type, ImageOrder from_order, void* to, FloatType to_type,
                    ImageOrder to_order, const ImageSize& size, const LaunchOptions& options);

/// Plain to channels-last with `padded_channels` >= channels; the channels after the image's are zeros.
cudaError_t reorder_padded(const void* from, FloatType from_type, void* to, FloatType to_type,
                           const ImageSize& size, int64_t padded_channels, const LaunchOptions& options);

/// to[b][c][r] = from[b][r][c] for elements of 1, 2, 4 or 8 bytes.
cudaError_t transpose_matrices(const void* from, void* to, size_t bytes, int64_t batch, int64_t rows,
                               int64_t columns, const LaunchOptions& options);

}  // namespace hone::device::cuda
