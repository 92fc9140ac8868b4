// SHA-256 (FIPS 180-4) and HMAC with it (RFC 2104), to check whether a file is the one that was written.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace hone::base {

class Sha256 {
 public:
  Sha256& add(std::string_view bytes);
  /// Returns the 32 bytes; the object cannot be used afterwards.
  std::string digest();

 private:
  void compress(const unsigned char* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> pending_{};
  uint64_t size_ = 0;
};

/// Bytes as lower-case hexadecimal digits.
std::string hex(std::string_view bytes);
/// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);
/// 64 hexadecimal digits that only a holder of the key can compute.
std::string hmac_sha256(std::string_view key, std::string_view bytes);

}  // namespace hone::base
