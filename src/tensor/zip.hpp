// Zip archives, as far as .npz files and TorchScript archives need them: stored and deflated members without
// encryption. zip64 can be read but not written.
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
  /// The member's bytes as stored in the archive.
  std::span<const std::byte> packed;
  bool deflated = false;
  uint64_t size = 0;  ///< unpacked
  uint32_t crc = 0;
};

/// The members in the order of the central directory, all inside `archive`, which must outlive them. Bad
/// input for an invalid archive, and if the members unpack to more than `limit` bytes.
std::vector<ZipMember> list_zip(std::span<const std::byte> archive, uint64_t limit);

/// Returns the member's unpacked bytes; bad input if size or checksum differ from the directory.
std::string unpack_zip_member(const ZipMember& member);
/// Makes the same checks without returning the bytes.
void check_zip_member(const ZipMember& member);

struct ZipContent {
  std::string name;
  std::string bytes;
};

/// Returns the bytes of an archive with stored members; bad input if it would need zip64 (4 GiB).
std::string format_zip(std::span<const ZipContent> members);

}  // namespace hone::tensor
