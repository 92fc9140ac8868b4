// One picture of a video or a file, as it was decoded: planes that somebody owns, their colours and their
// time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace hone::media {

/// Eight bits a sample. YUV: three planes, those of chroma smaller by the factors that the name says. kNv12:
/// as kYuv420, with both of chroma in one plane, sample by sample; only of frames on a device.
enum class PixelFormat { kRgb24, kGray, kYuv420, kYuv422, kYuv444, kNv12 };

/// How Y, U and V are made of red, green and blue (ITU-T H.273, table 4).
enum class ColourMatrix { kBt601, kBt709, kBt2020, kSmpte240, kFcc, kYcgco };

struct Rational {
  int64_t num = 0;
  int64_t den = 1;
};

struct Plane {
  const uint8_t* data = nullptr;
  int64_t stride = 0;  ///< bytes from one row to the next
};

/// Copies share the planes. Nobody writes to planes that others can see.
struct Frame {
  PixelFormat format = PixelFormat::kRgb24;
  int64_t width = 0;
  int64_t height = 0;
  std::array<Plane, 3> planes;
  std::shared_ptr<const void> owner;
  /// Planes lie in memory of the device that decoded them (DecodingDevice), where the host cannot read.
  bool on_device = false;

  ColourMatrix matrix = ColourMatrix::kBt601;
  bool full_range = true;
  /// A pixel's width to its height; pixels are delivered as they are stored.
  Rational pixel_aspect{1, 1};
  /// Seconds since the beginning of the file.
  double seconds = 0;
  /// The time in the units of the source's time base.
  int64_t ticks = 0;
};

int64_t plane_count(PixelFormat format);
/// The size of one plane: chroma of odd sizes is rounded up.
int64_t plane_width(const Frame& frame, int64_t plane);
int64_t plane_height(const Frame& frame, int64_t plane);

/// A frame of its own memory with the same properties, whose samples may be written until it is shared.
struct WritableFrame {
  Frame frame;
  std::array<uint8_t*, 3> data{};
};
/// A frame like it with room for `width` x `height` and no content.
WritableFrame blank_like(const Frame& frame, int64_t width, int64_t height);
WritableFrame copy_of(const Frame& frame);

/// A 4:2:0 frame with the properties of one of kNv12, whose planes are read from these addresses.
Frame planar_of_nv12(const Frame& frame, std::array<const uint8_t*, 2> planes);

/// Turned clockwise by 90, 180 or 270 degrees; 4:2:2 is none of the formats that can be turned by 90.
Frame turned(const Frame& frame, int degrees);
/// Left and right changed.
Frame mirrored(const Frame& frame);

}  // namespace hone::media
