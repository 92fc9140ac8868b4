// A hash of bytes that is the same on every machine and in every build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace hone::base {

/// FNV-1a, 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv). It distinguishes contents, but does not protect
/// against deliberate collisions.
class Fnv1a {
 public:
  void add_bytes(const void* data, size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (size_t i = 0; i < size; ++i) state_ = (state_ ^ bytes[i]) * 0x100000001b3u;
  }
  void add_characters(std::string_view text) { add_bytes(text.data(), text.size()); }
  void add_number(uint64_t number) { add_bytes(&number, sizeof(number)); }

  uint64_t value() const { return state_; }
  std::string text() const { return fmt::format("{:016x}", state_); }

 private:
  uint64_t state_ = 0xcbf29ce484222325u;
};

}  // namespace hone::base
