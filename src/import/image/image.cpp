// See image.hpp.
#include "import/image/image.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/plugin.hpp"

namespace hone::importer {
namespace {

DecodeImage decoder() {
  static const auto kDecoder =
      reinterpret_cast<DecodeImage>(base::load_plugin_symbol("image", "hone_decode_image"));
  return kDecoder;
}

}  // namespace

Image read_image(const std::filesystem::path& file, int64_t channels) {
  const base::MappedFile map(file);
  ImageSize size;
  try {
    size = inspect_image(map.bytes());
  } catch (const Error& error) {
    throw error.within(file.string());
  }
  Image image;
  image.channels = channels;
  const bool decoded = decoder()(map.bytes().data(), map.bytes().size(), &image);
  if (!decoded || image.width != size.width || image.height != size.height) {
    throw Error(ErrorKind::kBadInput, "the image is damaged: it does not decode", file.string());
  }
  return image;
}

}  // namespace hone::importer
