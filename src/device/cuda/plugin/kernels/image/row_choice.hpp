// Boxes of a detector's output that can be above its threshold, gathered into a list for the host. The rule
// is that of engine/row_chooser.hpp.
//
//     output, image n                                list n
//     box 0   x y w h o c c c                        how many (more than fit are counted, not listed)
//     box 1   x y w h o c c c    o > level  ------>  7, x y w h o c c c
//     ...                                            1, x y w h o c c c     in any order
#pragma once

#include <cstdint>

#include "device/cuda/plugin/kernels/common/host_device.hpp"
#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

struct RowChoice {
  int64_t image = 0;  ///< elements from one image to the next
  int64_t boxes = 0;
  int64_t numbers = 0;
  int64_t inner = 1;
  int64_t outer_stride = 0;
  int64_t inner_stride = 0;
  int64_t number_stride = 1;
  int64_t first_gate = 0;
  int64_t gates = 1;
  float level = 0;

  int64_t images = 1;
  int64_t most = 0;  ///< entries of a list
};

namespace choice {

/// Where the box's first number stands in the output.
HONE_HOST_DEVICE int64_t first_of(const RowChoice& rule, int64_t image, int64_t box) {
  return image * rule.image + box / rule.inner * rule.outer_stride + box % rule.inner * rule.inner_stride;
}

/// Words of four bytes of one list.
HONE_HOST_DEVICE int64_t list_words(const RowChoice& rule) { return 1 + rule.most * (1 + rule.numbers); }

}  // namespace choice

/// Zeroes the counts and fills the lists, one for each image.
cudaError_t choose_rows(const RowChoice& rule, const void* output, FloatType type, int32_t* lists,
                        const LaunchOptions& options);

}  // namespace hone::device::cuda
