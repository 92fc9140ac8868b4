// How a decoded frame lies in memory and in a network's input: plain numbers that the engine and the kernels
// of a GPU both read.
#pragma once

#include <cstdint>

namespace hone::engine {

/// Eight bits a sample; chroma of the last two has half the width and height, rounded up.
enum class FrameFormat : int32_t {
  kRgb24,   ///< one plane, red, green and blue next to each other
  kYuv420,  ///< three planes
  kNv12     ///< two planes, the second with both chroma samples next to each other
};

/// The share of a sample of luma and of each of chroma in red, green and blue, times 2^16.
struct FrameColours {
  int32_t luma_offset = 0;
  int32_t luma = 0;
  int32_t u[3] = {};
  int32_t v[3] = {};
};

/// Bilinear resizing: the two source pixels of a target pixel along an axis, and the weight of the second
/// times 2^11.
struct FrameTap {
  int32_t first = 0;
  int32_t second = 0;
  int32_t weight = 0;
};

/// Antialiased resizing: source pixels of a target pixel along an axis, from `first` on, with the weights
/// from `weights` on, times 2^22. Levels are rounded after the columns and again after the rows.
struct FrameWindow {
  int32_t first = 0;
  int32_t count = 0;
  int32_t weights = 0;
};

/// One axis of the rectangle of the input that a frame fills, a tap or a window for each of its pixels.
/// Windows count where they are not null.
struct FrameAxis {
  const FrameTap* taps = nullptr;
  const FrameWindow* windows = nullptr;
  const int32_t* weights = nullptr;
};

/// A frame and how it lies in the input. All pointers are to memory of the device.
struct FrameImage {
  FrameFormat format = FrameFormat::kNv12;
  const uint8_t* planes[3] = {};
  int64_t strides[3] = {};  ///< bytes from one row of a plane to the next
  FrameColours colours;     ///< not used for kRgb24
  int32_t left = 0;
  int32_t top = 0;
  int32_t width = 0;
  int32_t height = 0;
  FrameAxis columns;
  FrameAxis rows;
};

}  // namespace hone::engine
