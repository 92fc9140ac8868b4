// Zip archives as far as .npz files and TorchScript archives need them: stored and deflated members, no
// encryption. zip64 is read, not written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone::tensor {

struct ZipMember {
  std::string name;
  /// The member's bytes as they lie in the archive.
  std::span<const std::byte> packed;
  bool deflated = false;
  uint64_t size = 0;  ///< unpacked
  uint32_t crc = 0;
};

/// The members in the order of the central directory, all inside `archive`, which must outlive them. Bad
/// input for anything else than a sound archive, and when the members unpack to more than `limit` bytes.
std::vector<ZipMember> list_zip(std::span<const std::byte> archive, uint64_t limit);

/// The member's unpacked bytes; bad input when size or checksum are not those
/// of the directory.
std::string unpack_zip_member(const ZipMember& member);
/// The same check without the bytes.
void check_zip_member(const ZipMember& member);

struct ZipContent {
  std::string name;
  std::string bytes;
};

/// The bytes of an archive of stored members; bad input when it would need
/// zip64 (4 GiB).
std::string format_zip(std::span<const ZipContent> members);

}  // namespace hone::tensor
