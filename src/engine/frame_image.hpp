// The layout of a decoded frame in memory and its position in a network's input, as plain numbers for both
// the engine and GPU kernels.
#pragma once

#include <cstdint>

namespace hone::engine {

/// Eight bits per sample; in the last two formats, chroma has half the width and height, rounded up.
enum class FrameFormat : int32_t {
  kRgb24,   ///< one plane with interleaved red, green and blue
  kYuv420,  ///< three planes
  kNv12     ///< two planes; the second one has interleaved chroma samples
};

/// The factors of luma and chroma in red, green and blue, times 2^16.
struct FrameColours {
  int32_t luma_offset = 0;
  int32_t luma = 0;
  int32_t u[3] = {};
  int32_t v[3] = {};
};

/// Bilinear resizing: the two source pixels of a target pixel along an axis, and the weight of the second one
/// times 2^11.
struct FrameTap {
  int32_t first = 0;
  int32_t second = 0;
  int32_t weight = 0;
};

/// Antialiased resizing: the source pixels of a target pixel along an axis begin at `first`; their weights,
/// times 2^22, begin at `weights`. Levels are rounded after the columns and again after the rows.
struct FrameWindow {
  int32_t first = 0;
  int32_t count = 0;
  int32_t weights = 0;
};

/// One axis of the rectangle that a frame covers in the input, with a tap or a window for each of its pixels.
/// Windows are used if they are not null.
struct FrameAxis {
  const FrameTap* taps = nullptr;
  const FrameWindow* windows = nullptr;
  const int32_t* weights = nullptr;
};

/// A frame and its position in the input. All pointers refer to memory of the device.
struct FrameImage {
  FrameFormat format = FrameFormat::kNv12;
  const uint8_t* planes[3] = {};
  int64_t strides[3] = {};  ///< bytes from one row of a plane to the next
  FrameColours colours;     ///< unused for kRgb24
  int32_t left = 0;
  int32_t top = 0;
  int32_t width = 0;
  int32_t height = 0;
  FrameAxis columns;
  FrameAxis rows;
};

}  // namespace hone::engine
