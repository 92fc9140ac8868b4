// Any bytes given to the engine reader become an engine or a bad-input error, nothing else. The checksum is
// put right first: only the bytes after it are worth searching.
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "engine/engine_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kChecksumAt = 12;
  constexpr size_t kChecksumFrom = 16;
  std::vector<uint8_t> bytes(data, data + size);
  if (size > kChecksumFrom) {
    const auto crc = static_cast<uint32_t>(::crc32_z(0, bytes.data() + kChecksumFrom, size - kChecksumFrom));
    std::memcpy(bytes.data() + kChecksumAt, &crc, sizeof crc);
  }
  try {
    hone::engine::read_engine(std::as_bytes(std::span(bytes)), nullptr);
  } catch (const hone::Error& error) {
    if (error.kind() != hone::ErrorKind::kBadInput) std::abort();
  }
  return 0;
}
