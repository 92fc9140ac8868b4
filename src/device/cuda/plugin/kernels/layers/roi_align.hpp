// Averages the bins of regions in feature maps (K. He et
// al., "Mask R-CNN", 2017; ONNX operator RoiAlign).
#pragma once

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

struct RoiAlign {
  int64_t batch = 1;
  int64_t channels = 1;
  int64_t height = 1;  ///< of the map, as is `width`
  int64_t width = 1;
  int64_t regions = 1;
  int64_t out_height = 1;  ///< bins of a region
  int64_t out_width = 1;
  int64_t sampling_ratio = 0;  ///< samples of a bin along an axis; 0 means its length, rounded up
  float scale = 1;             ///< converts coordinates of boxes to pixels of the map
  bool half_pixel = true;      ///< true: integers are corners of pixels; false: centres
};

/// `map` is [batch][channels][height][width]; `boxes` is [regions][4] (x1, y1, x2, y2); `images` is
/// [regions], the image of each region; `output` is [regions][channels][out_height][out_width]. A region
/// becomes NaN if its image does not exist or if it has more than 2^28 samples.
cudaError_t roi_align(const void* map, const float* boxes, const int64_t* images, void* output,
                      FloatType type, const RoiAlign& size, const LaunchOptions& options);

}  // namespace hone::device::cuda
