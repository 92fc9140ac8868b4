// Red, green and blue in three planes, the form in which frames are preprocessed for a network.
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

/// Converts with the frame's matrix and range; a chroma sample is used for all pixels that it covers.
PlanarImage to_rgb(const Frame& frame);
importer::Image interleaved(const PlanarImage& image);
PlanarImage planar(const importer::Image& image);
/// Returns a frame that shares the image's pixels.
Frame frame_of(importer::Image image);

/// Returns Y, U and V of a colour in the frame's matrix and range; for an RGB frame, the colour itself.
std::array<uint8_t, 3> in_colours_of(const Frame& frame, std::array<uint8_t, 3> rgb);

/// The factors of luma and chroma in red, green and blue, times 2^16.
struct RgbCoefficients {
  int32_t luma_offset = 0;
  int32_t luma = 0;
  std::array<int32_t, 3> u{};
  std::array<int32_t, 3> v{};
};
/// The coefficients for a frame of Y, U and V.
RgbCoefficients rgb_coefficients(const Frame& frame);

/// The two source pixels of a target pixel along an axis, and the weight of the second one times 2^11.
struct ResizeTap {
  int64_t first = 0;
  int64_t second = 0;
  int32_t weight = 0;
};
/// How pixels of the result map to the source; the names are those of ONNX's Resize.
enum class ResizeGrid {
  kHalfPixel,     ///< the edges of both images coincide
  kAlignCorners,  ///< the centres of the corner pixels coincide
};
/// The taps of resize_plane().
std::vector<ResizeTap> resize_taps(int64_t from, int64_t to, ResizeGrid grid);

/// Resizes bilinearly, without a filter for reductions, and rounds to whole levels: with kHalfPixel like
/// OpenCV's INTER_LINEAR, with which most detectors were trained. Result samples are `stride` apart.
void resize_plane(const uint8_t* from, int64_t width, int64_t height, uint8_t* to, int64_t to_width,
                  int64_t to_height, int64_t stride, ResizeGrid grid = ResizeGrid::kHalfPixel);

/// Receives red, green and blue of row y, which are valid until it returns.
using UseRgbRow = std::function<void(int64_t y, const std::array<uint8_t*, 3>& row)>;
/// Does the work of to_rgb() and resize_plane() in one pass; result rows come in order.
void resize_to_rgb(const Frame& frame, int64_t width, int64_t height, ResizeGrid grid, const UseRgbRow& use);

}  // namespace hone::media
