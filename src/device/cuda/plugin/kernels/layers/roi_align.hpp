// Regions of feature maps, each as the averages of its bins (K. He et al., "Mask R-CNN", 2017; ONNX operator
// RoiAlign).
#pragma once

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

struct RoiAlign {
  int64_t batch = 1;
  int64_t channels = 1;
  int64_t height = 1;  ///< of the map
  int64_t width = 1;
  int64_t regions = 1;
  int64_t out_height = 1;  ///< bins
  int64_t out_width = 1;
  int64_t sampling_ratio = 0;  ///< samples of a bin along an axis; 0: its length, rounded up
  float scale = 1;             ///< from boxes to pixels of the map
  bool half_pixel = true;      ///< pixels are at their centres
};

/// `map` is [batch][channels][height][width], `boxes` [regions][4] (x1, y1, x2, y2), `images` [regions] the
/// image of each, `output` [regions][channels][out_height][out_width]. A region of an image that is not
/// there, or of more than 2^28 samples, becomes NaN.
cudaError_t roi_align(const void* map, const float* boxes, const int64_t* images, void* output,
                      FloatType type, const RoiAlign& size, const LaunchOptions& options);

}  // namespace hone::device::cuda
