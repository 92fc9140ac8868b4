// Images as inputs: PNG and JPEG files become 8-bit images.
//
// Files are untrusted: their structure and size are checked here before a
// decoder sees them. Decoding is done by libhone-image.so (OpenCV), loaded when
// the first image is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace hone::importer {

/// Rows from top to bottom, channels interleaved: 1 (gray) or 3 (red, green,
/// blue).
struct Image {
  int64_t width = 0;
  int64_t height = 0;
  int64_t channels = 0;
  std::vector<uint8_t> pixels;
};

/// The image with 1 or 3 channels, whatever the file has. Throws bad input for a file that is neither PNG nor
/// JPEG, is truncated or damaged, or has more than 64 million pixels, and an environment error without the
/// plugin.
Image read_image(const std::filesystem::path& file, int64_t channels);

struct ImageSize {
  int64_t width = 0;
  int64_t height = 0;
};

/// Checks the structure of the file without decoding it; throws bad input as above.
ImageSize inspect_image(std::span<const std::byte> file);

/// The type of the function that the plugin exports as `hone_decode_image`. It fills in size and pixels for
/// image->channels, or returns false if the file cannot be decoded.
using DecodeImage = bool (*)(const std::byte* file, size_t size, Image* image);

}  // namespace hone::importer
