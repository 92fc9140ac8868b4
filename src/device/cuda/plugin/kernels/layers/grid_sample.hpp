// Images sampled at points that a grid gives.
#pragma once

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

enum class SampleMode : uint8_t { kNearest, kLinear, kCubic };
/// The values beyond the image: zeros, its outermost pixels, or its mirror image.
enum class SamplePadding : uint8_t { kZeros, kBorder, kReflection };

/// Images with up to three spatial axes; absent axes (the first ones) have size 1.
struct GridSampleSize {
  int64_t batch = 1;
  int64_t channels = 1;
  int64_t input[3] = {1, 1, 1};
  int64_t points = 1;  ///< of one image
  int axes = 2;
  SampleMode mode = SampleMode::kLinear;
  SamplePadding padding = SamplePadding::kZeros;
  /// True if -1 and 1 are the centres of the outermost pixels, not their outer edges.
  bool align_corners = false;
};

/// `grid` is [batch][points][axes], the innermost axis' coordinate first; positions are computed in double,
/// as their rounding decides which pixels are read. Images lie in `order`.
cudaError_t grid_sample(const void* input, const float* grid, void* output, FloatType type, ImageOrder order,
                        const GridSampleSize& size, const LaunchOptions& options);

}  // namespace hone::device::cuda
