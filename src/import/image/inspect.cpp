// Checks the structure of PNG and JPEG files without decoding. A truncated file is refused with hone's own
// message (decoders fill the rest with gray, or write to the error stream), and so is a file that would
// unpack to more memory than allowed. PNG: RFC 2083 section 3; JPEG: ITU-T T.81 annex B.
#include <zlib.h>

#include "base/error.hpp"
#include "base/file_kind.hpp"
#include "import/image/image.hpp"

namespace hone::importer {
namespace {

constexpr int64_t kMaxPixels = int64_t{1} << 26;
constexpr unsigned char kPngMagic[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr uint32_t kHeaderChunk = 0x49484452;  // IHDR
constexpr uint32_t kEndChunk = 0x49454e44;     // IEND

constexpr uint32_t kStartOfScan = 0xda;
constexpr uint32_t kEndOfImage = 0xd9;

/// Reads big-endian numbers; throws bad input at the end of the data.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  uint32_t big_endian(size_t at, size_t count) const {
    const auto field = slice(at, count);
    uint32_t value = 0;
    for (const std::byte byte : field) value = value << 8 | std::to_integer<uint32_t>(byte);
    return value;
  }
  std::span<const std::byte> slice(size_t at, size_t count) const {
    if (at > bytes_.size() || count > bytes_.size() - at) fail_bad_input("the image is truncated");
    return bytes_.subspan(at, count);
  }
  bool starts_with(std::span<const unsigned char> magic) const {
    for (size_t i = 0; i < magic.size(); ++i) {
      if (i >= bytes_.size() || std::to_integer<unsigned char>(bytes_[i]) != magic[i]) return false;
    }
    return true;
  }

 private:
  std::span<const std::byte> bytes_;
};

ImageSize checked_size(uint32_t width, uint32_t height) {
  const ImageSize size{width, height};
  if (width == 0 || height == 0) fail_bad_input("the image is {} x {} pixels", width, height);
  if (size.width > kMaxPixels || size.height > kMaxPixels / size.width) {
    fail_bad_input("the image is {} x {} pixels, more than the limit of {}", width, height, kMaxPixels);
  }
  return size;
}

/// Checks length, type, data and checksum of each chunk, up to IEND.
ImageSize inspect_png(const Reader& reader) {
  ImageSize size;
  size_t at = sizeof(kPngMagic);
  for (uint32_t type = 0; type != kEndChunk;) {
    const uint32_t length = reader.big_endian(at, 4);
    type = reader.big_endian(at + 4, 4);
    const auto covered = reader.slice(at + 4, size_t{length} + 4);
    const auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(covered.data()), covered.size());
    if (sum != reader.big_endian(at + 8 + length, 4)) fail_bad_input("the image has a wrong checksum");
    if (type == kHeaderChunk && length >= 8) {
      size = checked_size(reader.big_endian(at + 8, 4), reader.big_endian(at + 12, 4));
    } else if (size.width == 0) {
      fail_bad_input("the PNG image does not start with its header");
    }
    at += size_t{12} + length;
  }
  return size;
}

/// Markers that begin a frame and hold its size: SOF0 to SOF15 without DHT, JPG and DAC.
bool is_start_of_frame(uint32_t marker) {
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

/// In entropy-coded data 0xff is followed by 0 or a restart marker, so an end
/// marker ends the image.
void require_end(const Reader& reader, size_t at) {
  for (;; ++at) {
    if (reader.big_endian(at, 2) == (0xff00 | kEndOfImage)) return;
  }
}

ImageSize inspect_jpeg(const Reader& reader) {
  ImageSize size;
  for (size_t at = 2;;) {
    if (reader.big_endian(at, 1) != 0xff) fail_bad_input("the JPEG image has a damaged marker");
    const uint32_t marker = reader.big_endian(at + 1, 1);
    if (marker == 0xff) {  // fill byte
      ++at;
      continue;
    }
    const uint32_t length = reader.big_endian(at + 2, 2);
    if (is_start_of_frame(marker)) {
      size = checked_size(reader.big_endian(at + 7, 2), reader.big_endian(at + 5, 2));
    }
    at += size_t{2} + length;
    if (marker == kStartOfScan) {
      if (size.width == 0) fail_bad_input("the JPEG image has no frame header");
      require_end(reader, at);
      return size;
    }
  }
}

}  // namespace

ImageSize inspect_image(std::span<const std::byte> file) {
  constexpr unsigned char kJpegMagic[] = {0xff, 0xd8, 0xff};
  const Reader reader(file);
  if (reader.starts_with(kPngMagic)) return inspect_png(reader);
  if (reader.starts_with(kJpegMagic)) return inspect_jpeg(reader);
  if (file.empty()) fail_bad_input("the file is empty");
  const std::string_view kind = base::seeming_kind({reinterpret_cast<const char*>(file.data()), file.size()});
  fail_bad_input(
      "this is {}neither a PNG nor a JPEG image: convert it to one of them (arrays are .npy or .npz files)",
      kind.empty() ? "" : fmt::format("{}, ", kind));
}

}  // namespace hone::importer
