// See encode.hpp.
#include "import/image/encode.hpp"

#include "base/error.hpp"
#include "base/plugin.hpp"

namespace hone::importer {

std::string encode_jpeg(const Image& image, int quality) {
  static const auto kEncoder =
      reinterpret_cast<EncodeJpeg>(base::load_plugin_symbol("image", "hone_encode_jpeg"));
  std::string file;
  if (!kEncoder(image, quality, &file))
    fail_environment("an image of {} x {} cannot be written as JPEG", image.width, image.height);
  return file;
}

}  // namespace hone::importer
