// Red, green and blue in three planes: what frames are turned into for a network.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "import/image/image.hpp"
#include "media/frame.hpp"

namespace hone::media {

struct PlanarImage {
  int64_t width = 0;
  int64_t height = 0;
  std::array<std::vector<uint8_t>, 3> planes;  ///< red, green, blue, row by row
};

/// Converts by the frame's own matrix and range; chroma samples count for all pixels that they cover.
PlanarImage to_rgb(const Frame& frame);
importer::Image interleaved(const PlanarImage& image);
PlanarImage planar(const importer::Image& image);
/// A frame over the image's pixels.
Frame frame_of(importer::Image image);

/// Y, U and V of a colour, in the frame's own matrix and range; red, green and blue where it has those.
std::array<uint8_t, 3> in_colours_of(const Frame& frame, std::array<uint8_t, 3> rgb);

/// The summands of red, green and blue for a sample of luma and each of chroma, times 2^16.
struct RgbCoefficients {
  int32_t luma_offset = 0;
  int32_t luma = 0;
  std::array<int32_t, 3> u{};
  std::array<int32_t, 3> v{};
};
/// The coefficients for a frame of Y, U and V.
RgbCoefficients rgb_coefficients(const Frame& frame);

/// The two source pixels of a target pixel along an axis, and the weight of the second times 2^11.
struct ResizeTap {
  int64_t first = 0;
  int64_t second = 0;
  int32_t weight = 0;
};
/// The taps of resize_plane().
std::vector<ResizeTap> resize_taps(int64_t from, int64_t to);

/// Bilinear between pixel centres, without a filter for reductions, rounded to whole levels: what OpenCV's
/// INTER_LINEAR does and most detectors were trained with. Results lie `stride` apart.
void resize_plane(const uint8_t* from, int64_t width, int64_t height, uint8_t* to, int64_t to_width,
                  int64_t to_height, int64_t stride);

/// Takes red, green and blue of row y, which hold until it returns.
using UseRgbRow = std::function<void(int64_t y, const std::array<uint8_t*, 3>& row)>;
/// to_rgb() and resize_plane() in one pass over the rows that are read, the rows of the result in order.
void resize_to_rgb(const Frame& frame, int64_t width, int64_t height, const UseRgbRow& use);

}  // namespace hone::media
