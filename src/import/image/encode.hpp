// Images as JPEG files. libhone-image.so (OpenCV) encodes them; it is loaded for the first image.
#pragma once

#include <string>

#include "import/image/image.hpp"

namespace hone::importer {

/// A JPEG file of the image, with `quality` from 1 to 100. Throws an environment error without the plugin.
std::string encode_jpeg(const Image& image, int quality);

/// The plugin exports this function as `hone_encode_jpeg`; it returns false if the image cannot be encoded.
using EncodeJpeg = bool (*)(const Image& image, int quality, std::string* file);

}  // namespace hone::importer
