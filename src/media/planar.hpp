// Red, green and blue in three planes: what frames are turned into for a network.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "import/image/image.hpp"
#include "media/frame.hpp"

namespace hone::media {

struct PlanarImage {
  int64_t width = 0;
  int64_t height = 0;
  std::array<std::vector<uint8_t>, 3> planes;  ///< red, green, blue, row by row
};

/// By the frame's own matrix and range; chroma samples count for all pixels that they cover.
PlanarImage to_rgb(const Frame& frame);
importer::Image interleaved(const PlanarImage& image);
PlanarImage planar(const importer::Image& image);
/// A frame over the image's pixels.
Frame frame_of(importer::Image image);

/// Y, U and V of a colour, in the frame's own matrix and range; red, green and blue where it has those.
std::array<uint8_t, 3> in_colours_of(const Frame& frame, std::array<uint8_t, 3> rgb);

/// Bilinear between pixel centres, without a filter for reductions, rounded to whole levels: what OpenCV's
/// INTER_LINEAR does and most detectors were trained with. Results lie `stride` apart.
void resize_plane(const uint8_t* from, int64_t width, int64_t height, uint8_t* to, int64_t to_width,
                  int64_t to_height, int64_t stride);

}  // namespace hone::media
