// See transport_stream.hpp.
#include "media/plugin/transport_stream.hpp"

#include <array>
#include <filesystem>
#include <fstream>

namespace hone::media {

bool ends_within_packet(const std::string& file) {
  constexpr size_t kPacketBytes = 188;
  constexpr char kSync = 0x47;
  std::error_code unknown;
  const uintmax_t size = std::filesystem::file_size(file, unknown);
  std::array<char, 2 * kPacketBytes> begin{};
  std::ifstream stream(file, std::ios::binary);
  // Recordings of other forms put bytes before each packet, or begin within one.
  if (unknown || !stream.read(begin.data(), begin.size())) return false;
  return begin[0] == kSync && begin[kPacketBytes] == kSync && size % kPacketBytes != 0;
}

}  // namespace hone::media
