// One decoded picture of a video or an image file: its planes with their owner, its colour format and its
// time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace hone::media {

/// Eight bits per sample. YUV formats have three planes, with chroma subsampled as the name says. kNv12 is
/// like kYuv420, but with both chroma components interleaved in one plane; it occurs only on devices.
enum class PixelFormat { kRgb24, kGray, kYuv420, kYuv422, kYuv444, kNv12 };

/// The matrix that converts red, green and blue to Y, U and V (ITU-T H.273, table 4).
enum class ColourMatrix { kBt601, kBt709, kBt2020, kSmpte240, kFcc, kYcgco };

struct Rational {
  int64_t num = 0;
  int64_t den = 1;
};

struct Plane {
  const uint8_t* data = nullptr;
  int64_t stride = 0;  ///< bytes from one row to the next
};

/// Copies share the planes. Planes that others can see are never written.
struct Frame {
  PixelFormat format = PixelFormat::kRgb24;
  int64_t width = 0;
  int64_t height = 0;
  std::array<Plane, 3> planes;
  std::shared_ptr<const void> owner;
  /// True if the planes are in memory of the device that decoded them (DecodingDevice), which the host cannot
  /// read.
  bool on_device = false;

  ColourMatrix matrix = ColourMatrix::kBt601;
  bool full_range = true;
  /// Ratio of a pixel's width to its height. Pixels are delivered as they are stored.
  Rational pixel_aspect{1, 1};
  /// Seconds since the beginning of the file.
  double seconds = 0;
  /// The time in units of the source's time base.
  int64_t ticks = 0;
};

int64_t plane_count(PixelFormat format);
/// The size of one plane; odd sizes are rounded up for chroma.
int64_t plane_width(const Frame& frame, int64_t plane);
int64_t plane_height(const Frame& frame, int64_t plane);

/// A frame with its own memory, whose samples may be written until it is shared.
struct WritableFrame {
  Frame frame;
  std::array<uint8_t*, 3> data{};
};
/// Returns a frame with the same properties, the size `width` x `height` and uninitialized content.
WritableFrame blank_like(const Frame& frame, int64_t width, int64_t height);
WritableFrame copy_of(const Frame& frame);

/// Returns a 4:2:0 frame with the properties of a kNv12 frame; the planes are read from these addresses.
Frame planar_of_nv12(const Frame& frame, std::array<const uint8_t*, 2> planes);

/// Rotates clockwise by 90, 180 or 270 degrees; 4:2:2 frames cannot be rotated by 90 or 270.
Frame turned(const Frame& frame, int degrees);
/// Exchanges left and right.
Frame mirrored(const Frame& frame);

}  // namespace hone::media
