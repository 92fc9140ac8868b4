// See frame.hpp.
#include "media/frame.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.hpp"

namespace hone::media {
namespace {

struct Subsampling {
  int64_t x = 1;
  int64_t y = 1;
};

Subsampling subsampling(PixelFormat format) {
  switch (format) {
    case PixelFormat::kYuv420:
    case PixelFormat::kNv12: return {2, 2};
    case PixelFormat::kYuv422: return {2, 1};
    default: return {1, 1};
  }
}

int64_t bytes_of_pixel(PixelFormat format) { return format == PixelFormat::kRgb24 ? 3 : 1; }

/// Calls move(from, to) with the bytes of each pixel of a plane and their destination.
template <class Target>
void move_pixels(const Frame& from, const WritableFrame& to, const Target& target) {
  const int64_t bytes = bytes_of_pixel(from.format);
  for (int64_t p = 0; p < plane_count(from.format); ++p) {
    const auto index = static_cast<size_t>(p);
    const Plane& plane = from.planes[index];
    const int64_t width = plane_width(from, p);
    const int64_t height = plane_height(from, p);
    for (int64_t y = 0; y < height; ++y) {
      const uint8_t* row = plane.data + y * plane.stride;
      for (int64_t x = 0; x < width; ++x) {
        const auto [to_x, to_y] = target(x, y, width, height);
        std::memcpy(to.data[index] + to_y * to.frame.planes[index].stride + to_x * bytes, row + x * bytes,
                    static_cast<size_t>(bytes));
      }
    }
  }
}

struct Point {
  int64_t x;
  int64_t y;
};

}  // namespace

int64_t plane_count(PixelFormat format) {
  if (format == PixelFormat::kNv12) return 2;
  return format == PixelFormat::kRgb24 || format == PixelFormat::kGray ? 1 : 3;
}

int64_t plane_width(const Frame& frame, int64_t plane) {
  const int64_t step = plane == 0 ? 1 : subsampling(frame.format).x;
  return (frame.width + step - 1) / step;
}

int64_t plane_height(const Frame& frame, int64_t plane) {
  const int64_t step = plane == 0 ? 1 : subsampling(frame.format).y;
  return (frame.height + step - 1) / step;
}

WritableFrame blank_like(const Frame& frame, int64_t width, int64_t height) {
  WritableFrame result;
  result.frame = frame;
  result.frame.width = width;
  result.frame.height = height;
  std::array<size_t, 3> offsets{};
  size_t size = 0;
  for (int64_t p = 0; p < plane_count(frame.format); ++p) {
    offsets[static_cast<size_t>(p)] = size;
    size += static_cast<size_t>(plane_width(result.frame, p) * bytes_of_pixel(frame.format) *
                                plane_height(result.frame, p));
  }
  // A vector would fill the memory with zeros first.
  const std::shared_ptr<uint8_t[]> memory(new uint8_t[size]);
  for (int64_t p = 0; p < plane_count(frame.format); ++p) {
    const auto index = static_cast<size_t>(p);
    result.data[index] = memory.get() + offsets[index];
    result.frame.planes[index] = {result.data[index],
                                  plane_width(result.frame, p) * bytes_of_pixel(frame.format)};
  }
  result.frame.owner = memory;
  return result;
}

WritableFrame copy_of(const Frame& frame) {
  WritableFrame result = blank_like(frame, frame.width, frame.height);
  for (int64_t p = 0; p < plane_count(frame.format); ++p) {
    const auto index = static_cast<size_t>(p);
    const int64_t bytes = plane_width(frame, p) * bytes_of_pixel(frame.format);
    for (int64_t y = 0; y < plane_height(frame, p); ++y)
      std::memcpy(result.data[index] + y * bytes, frame.planes[index].data + y * frame.planes[index].stride,
                  static_cast<size_t>(bytes));
  }
  return result;
}

Frame planar_of_nv12(const Frame& frame, std::array<const uint8_t*, 2> planes) {
  Frame like = frame;
  like.format = PixelFormat::kYuv420;
  like.on_device = false;
  WritableFrame result = blank_like(like, frame.width, frame.height);
  for (int64_t y = 0; y < frame.height; ++y)
    std::copy_n(planes[0] + y * frame.planes[0].stride, frame.width,
                result.data[0] + y * result.frame.planes[0].stride);
  const int64_t width = plane_width(result.frame, 1);
  for (int64_t y = 0; y < plane_height(result.frame, 1); ++y) {
    const uint8_t* from = planes[1] + y * frame.planes[1].stride;
    uint8_t* u = result.data[1] + y * result.frame.planes[1].stride;
    uint8_t* v = result.data[2] + y * result.frame.planes[2].stride;
    for (int64_t x = 0; x < width; ++x) {
      u[x] = from[2 * x];
      v[x] = from[2 * x + 1];
    }
  }
  return result.frame;
}

Frame turned(const Frame& frame, int degrees) {
  if (degrees == 0) return frame;
  if (degrees == 180) {
    const WritableFrame result = blank_like(frame, frame.width, frame.height);
    move_pixels(frame, result, [](int64_t x, int64_t y, int64_t width, int64_t height) {
      return Point{width - 1 - x, height - 1 - y};
    });
    return result.frame;
  }
  if (frame.format == PixelFormat::kYuv422) fail_internal("4:2:2 turned by {} degrees has no name", degrees);
  WritableFrame result = blank_like(frame, frame.height, frame.width);
  result.frame.pixel_aspect = {frame.pixel_aspect.den, frame.pixel_aspect.num};
  move_pixels(frame, result, [degrees](int64_t x, int64_t y, int64_t width, int64_t height) {
    return degrees == 90 ? Point{height - 1 - y, x} : Point{y, width - 1 - x};
  });
  return result.frame;
}

Frame mirrored(const Frame& frame) {
  const WritableFrame result = blank_like(frame, frame.width, frame.height);
  move_pixels(frame, result, [](int64_t x, int64_t y, int64_t width, int64_t) {
    return Point{width - 1 - x, y};
  });
  return result.frame;
}

}  // namespace hone::media
