// Converts decoded frames to the input of a network in one kernel: colours, resizing into a rectangle of the
// input, and normalization, without a copy between these steps.
//
// The results are bit-identical to the CPU's (src/media/colour.cpp, src/media/resize.cpp,
// src/import/image/resize.cpp, src/task/preprocess.cpp). Every source pixel is converted to red, green and
// blue in integer levels. Four of them are mixed with weights of 11 bits and rounded to a level again. With
// antialiasing, all pixels of a window are mixed with weights of 22 bits, and rounded after the columns and
// after the rows. A table holds the value of each level.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "device/cuda/plugin/kernels/common/launch_options.hpp"
#include "engine/frame_image.hpp"

namespace hone::device::cuda {

using engine::FrameColours;
using engine::FrameFormat;
using engine::FrameTap;
using engine::FrameWindow;

/// A frame and its destination in the input. All pointers point to device memory.
struct FrameInput : engine::FrameImage {
  int32_t input_width = 0;
  int32_t input_height = 0;
  /// For each channel of the input: its colour (0 red, 1 green, 2 blue), the values of the levels 0 to 255
  /// ([3][256]), and the value outside the rectangle.
  int32_t colour[3] = {0, 1, 2};
  const float* levels = nullptr;
  float margin[3] = {};
};

namespace frame {

constexpr int kColourBits = 16;
constexpr int kWeightBits = 11;
constexpr int kWindowBits = 22;

/// Red, green and blue of one pixel of the frame.
struct Pixel {
  int32_t colour[3];
};

HONE_HOST_DEVICE int32_t clamp_level(int32_t level) { return level < 0 ? 0 : level > 255 ? 255 : level; }

template <FrameFormat format>
HONE_HOST_DEVICE Pixel pixel_at(const FrameInput& input, int32_t x, int32_t y) {
  Pixel pixel;
  if constexpr (format == FrameFormat::kRgb24) {
    const uint8_t* at = input.planes[0] + y * input.strides[0] + int64_t{3} * x;
    for (int c = 0; c < 3; ++c) pixel.colour[c] = at[c];
    return pixel;
  }
  int32_t u = 0;
  int32_t v = 0;
  if constexpr (format == FrameFormat::kNv12) {
    const uint8_t* at = input.planes[1] + (y / 2) * input.strides[1] + int64_t{x / 2} * 2;
    u = at[0];
    v = at[1];
  } else {
    u = input.planes[1][(y / 2) * input.strides[1] + x / 2];
    v = input.planes[2][(y / 2) * input.strides[2] + x / 2];
  }
  const FrameColours& by = input.colours;
  const int32_t luma = (input.planes[0][y * input.strides[0] + x] - by.luma_offset) * by.luma;
  for (int c = 0; c < 3; ++c) {
    const int32_t sum = luma + (u - 128) * by.u[c] + (v - 128) * by.v[c] + (1 << (kColourBits - 1));
    pixel.colour[c] = clamp_level(sum >> kColourBits);
  }
  return pixel;
}

/// Levels of red, green and blue at a pixel of the rectangle.
template <FrameFormat format>
HONE_HOST_DEVICE Pixel mixed_at(const FrameInput& input, int32_t x, int32_t y) {
  constexpr int32_t kOne = 1 << kWeightBits;
  const FrameTap column = input.columns.taps[x];
  const FrameTap row = input.rows.taps[y];
  const Pixel a = pixel_at<format>(input, column.first, row.first);
  const Pixel b = pixel_at<format>(input, column.second, row.first);
  const Pixel c = pixel_at<format>(input, column.first, row.second);
  const Pixel d = pixel_at<format>(input, column.second, row.second);
  Pixel result;
  for (int k = 0; k < 3; ++k) {
    const int32_t upper = a.colour[k] * (kOne - column.weight) + b.colour[k] * column.weight;
    const int32_t lower = c.colour[k] * (kOne - column.weight) + d.colour[k] * column.weight;
    result.colour[k] = (upper * (kOne - row.weight) + lower * row.weight + (1 << (2 * kWeightBits - 1))) >>
                       (2 * kWeightBits);
  }
  return result;
}

/// The pixel filtered by windows. 255 times the sum of all weights fits in 32 bits.
template <FrameFormat format>
HONE_HOST_DEVICE Pixel filtered_at(const FrameInput& input, int32_t x, int32_t y) {
  constexpr int32_t kHalf = 1 << (kWindowBits - 1);
  const FrameWindow column = input.columns.windows[x];
  const FrameWindow row = input.rows.windows[y];
  Pixel sum{{kHalf, kHalf, kHalf}};
  for (int32_t i = 0; i < row.count; ++i) {
    Pixel line{{kHalf, kHalf, kHalf}};
    for (int32_t k = 0; k < column.count; ++k) {
      const Pixel pixel = pixel_at<format>(input, column.first + k, row.first + i);
      const int32_t weight = input.columns.weights[column.weights + k];
      for (int c = 0; c < 3; ++c) line.colour[c] += weight * pixel.colour[c];
    }
    const int32_t weight = input.rows.weights[row.weights + i];
    for (int c = 0; c < 3; ++c) sum.colour[c] += weight * clamp_level(line.colour[c] >> kWindowBits);
  }
  for (int c = 0; c < 3; ++c) sum.colour[c] = clamp_level(sum.colour[c] >> kWindowBits);
  return sum;
}

/// The three channels of a pixel of the network's input; `windows` selects antialiasing.
template <FrameFormat format, bool windows = false>
HONE_HOST_DEVICE void values_at(const FrameInput& input, int32_t x, int32_t y, float (&values)[3]) {
  const int32_t column = x - input.left;
  const int32_t row = y - input.top;
  if (column < 0 || row < 0 || column >= input.width || row >= input.height) {
    for (int c = 0; c < 3; ++c) values[c] = input.margin[c];
    return;
  }
  Pixel pixel;
  if constexpr (windows) {
    pixel = filtered_at<format>(input, column, row);
  } else {
    pixel = mixed_at<format>(input, column, row);
  }
  for (int c = 0; c < 3; ++c) {
    const int32_t colour = input.colour[c];
    const int32_t level = colour == 0 ? pixel.colour[0] : colour == 1 ? pixel.colour[1] : pixel.colour[2];
    values[c] = input.levels[256 * c + level];
  }
}

}  // namespace frame

/// Fills one image of a batch: three channels of the given type, in the given order.
cudaError_t fill_frame_input(const FrameInput& input, void* image, FloatType type, ImageOrder order,
                             const LaunchOptions& options);

}  // namespace hone::device::cuda
