// Images as JPEG files. Encoding is done by libhone-image.so (OpenCV), loaded for the first one.
#pragma once

#include <string>

#include "import/image/image.hpp"

namespace hone::importer {

/// A JPEG file of the image, `quality` from 1 to 100. Environment error without the plugin.
std::string encode_jpeg(const Image& image, int quality);

/// The plugin exports it as `hone_encode_jpeg`: false when the image cannot be encoded.
using EncodeJpeg = bool (*)(const Image& image, int quality, std::string* file);

}  // namespace hone::importer
