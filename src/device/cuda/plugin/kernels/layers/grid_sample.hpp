// Samples images at the points of a grid.
#pragma once

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

enum class SampleMode : uint8_t { kNearest, kLinear, kCubic };
/// The values outside the image: zeros, its outermost pixels, or its mirror image.
enum class SamplePadding : uint8_t { kZeros, kBorder, kReflection };

/// Images with up to three spatial axes; absent axes (the first ones) have size 1.
struct GridSampleSize {
  int64_t batch = 1;
  int64_t channels = 1;
  int64_t input[3] = {1, 1, 1};
  int64_t points = 1;  ///< points in one image
  int axes = 2;
  SampleMode mode = SampleMode::kLinear;
  SamplePadding padding = SamplePadding::kZeros;
  /// True if -1 and 1 are the centres of the outermost pixels; otherwise they are the outer edges.
  bool align_corners = false;
};

/// `grid` is [batch][points][axes], with the innermost axis first. Positions are computed in double, because
/// their rounding decides which pixels are read. Images are in `order`.
cudaError_t grid_sample(const void* input, const float* grid, void* output, FloatType type, ImageOrder order,
                        const GridSampleSize& size, const LaunchOptions& options);

}  // namespace hone::device::cuda
