// See zip.hpp. Field layout: PKWARE APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12, 4.3.14 to 4.3.16 and 4.5.3.
#include "tensor/zip.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "base/file_kind.hpp"

namespace hone::tensor {
namespace {

constexpr uint32_t kLocalSignature = 0x04034b50;
constexpr uint32_t kCentralSignature = 0x02014b50;
constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kLongEndSignature = 0x06064b50;
constexpr uint32_t kLocatorSignature = 0x07064b50;
constexpr size_t kLocalSize = 30;
constexpr size_t kCentralSize = 46;
constexpr size_t kEndSize = 22;
constexpr size_t kLocatorSize = 20;
constexpr uint16_t kLongExtra = 1;
constexpr size_t kMaxComment = 65535;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;
/// 1 January 1980, the first date of the zip format; it is constant, so that equal tensors give equal files.
constexpr uint16_t kDate = 1 << 5 | 1;
/// Deflate's largest compression ratio (zlib's technical notes), with a margin for a short block.
constexpr uint64_t kMaxRatio = 1032;
constexpr uint64_t kRatioSlack = 1024;
/// A file of a few megabytes must not take gigabytes of memory: files that unpack to more than this may only
/// grow by kMostGrowth. Small arrays of zeros may reach Deflate's largest ratio.
constexpr uint64_t kFreeBytes = 64 << 20;
constexpr uint64_t kMostGrowth = 200;
/// Flag: the name is UTF-8, not in the IBM PC's character set.
constexpr uint16_t kUtf8 = 1 << 11;

/// Little-endian reads that are checked to stay inside the archive.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  uint16_t u16(size_t at) const { return static_cast<uint16_t>(integer(at, 2)); }
  uint32_t u32(size_t at) const { return static_cast<uint32_t>(integer(at, 4)); }
  uint64_t u64(size_t at) const { return integer(at, 8); }
  std::span<const std::byte> slice(size_t at, size_t count) const {
    if (at > bytes_.size() || count > bytes_.size() - at) fail_bad_input("the zip archive is truncated");
    return bytes_.subspan(at, count);
  }
  size_t size() const { return bytes_.size(); }

 private:
  uint64_t integer(size_t at, size_t count) const {
    const auto field = slice(at, count);
    uint64_t value = 0;
    for (size_t i = count; i-- > 0;) value = value << 8 | std::to_integer<uint64_t>(field[i]);
    return value;
  }

  std::span<const std::byte> bytes_;
};

/// Only for files that do not end as an archive: something may stand before one.
void refuse_other_kind(const Reader& reader) {
  const auto all = reader.slice(0, reader.size());
  const std::string_view kind = base::seeming_kind({reinterpret_cast<const char*>(all.data()), all.size()});
  if (!kind.empty() && kind != "a zip archive")
    fail_bad_input("this is {}, not a zip archive, as .npz files and TorchScript archives are", kind);
}

size_t find_end(const Reader& reader) {
  if (reader.size() < kEndSize) refuse_other_kind(reader);
  if (reader.size() < kEndSize) fail_bad_input("this is not a zip archive: it is shorter than 22 bytes");
  const size_t last = reader.size() - kEndSize;
  const size_t first = last > kMaxComment ? last - kMaxComment : 0;
  for (size_t at = last + 1; at-- > first;) {
    if (reader.u32(at) == kEndSignature) return at;
  }
  refuse_other_kind(reader);
  fail_bad_input("this is not a zip archive, or it is truncated: it has no end record");
}

struct Directory {
  uint64_t begin = 0;
  uint64_t count = 0;
};

/// Archives whose two end records of zip64 disagree are refused, because readers interpret them differently.
Directory find_directory(const Reader& reader) {
  const size_t end = find_end(reader);
  const Directory own{reader.u32(end + 16), reader.u16(end + 10)};
  if (end < kLocatorSize || reader.u32(end - kLocatorSize) != kLocatorSignature) return own;
  const uint64_t at = reader.u64(end - kLocatorSize + 8);
  if (reader.u32(at) != kLongEndSignature) fail_bad_input("the zip archive's zip64 end record is damaged");
  const Directory found{reader.u64(at + 48), reader.u64(at + 32)};
  const bool agree = (own.begin == UINT32_MAX || own.begin == found.begin) &&
                     (own.count == UINT16_MAX || own.count == found.count);
  if (!agree) fail_bad_input("the zip archive's end records disagree");
  return found;
}

std::span<const std::byte> packed_bytes(const Reader& reader, uint64_t local, uint64_t size,
                                        const std::string& name) {
  if (reader.u32(local) != kLocalSignature) fail_bad_input("zip member '{}' has no local header", name);
  const size_t data = local + kLocalSize + reader.u16(local + 26) + reader.u16(local + 28);
  return reader.slice(data, size);
}

/// The three sizes of a member that zip64 moves to an extra field if they need more than 32 bits.
struct Sizes {
  uint64_t unpacked;
  uint64_t packed;
  uint64_t local;
};

Sizes read_sizes(const Reader& reader, size_t at, const std::string& name) {
  Sizes sizes{reader.u32(at + 24), reader.u32(at + 20), reader.u32(at + 42)};
  size_t extra = at + kCentralSize + reader.u16(at + 28);
  const size_t end = extra + reader.u16(at + 30);
  while (extra + 4 <= end && reader.u16(extra) != kLongExtra) extra += 4 + size_t{reader.u16(extra + 2)};
  size_t next = extra + 4;
  const size_t last = extra + 4 <= end ? next + reader.u16(extra + 2) : 0;
  for (uint64_t* size : {&sizes.unpacked, &sizes.packed, &sizes.local}) {
    if (*size != UINT32_MAX) continue;
    if (next + 8 > last || last > end) fail_bad_input("zip member '{}' lacks a zip64 size", name);
    *size = reader.u64(next);
    next += 8;
  }
  return sizes;
}

void check_method(const Reader& reader, size_t at, const std::string& name) {
  if ((reader.u16(at + 8) & 1) != 0) fail_bad_input("zip member '{}' is encrypted", name);
  const uint16_t method = reader.u16(at + 10);
  if (method != kStored && method != kDeflated) {
    fail_bad_input(
        "zip member '{}' has compression method {}, expected stored "
        "or deflated",
        name, method);
  }
}

void check_size(const ZipMember& member) {
  const uint64_t packed = member.packed.size();
  const uint64_t most = member.deflated ? base::checked_mul(packed, kMaxRatio) + kRatioSlack : packed;
  if (member.size > most || (!member.deflated && member.size != packed)) {
    fail_bad_input("zip member '{}' claims to unpack from {} to {} bytes", member.name, packed, member.size);
  }
  if (member.size > kFreeBytes && member.size / kMostGrowth > packed) {
    fail_bad_input(
        "zip member '{}' would unpack from {} to {} bytes; more than {} bytes may be {} times their packed "
        "size at most (store it unpacked)",
        member.name, packed, member.size, kFreeBytes, kMostGrowth);
  }
}

ZipMember read_member(const Reader& reader, size_t at) {
  if (reader.u32(at) != kCentralSignature) fail_bad_input("the zip archive's directory is damaged");
  const auto name = reader.slice(at + kCentralSize, reader.u16(at + 28));
  ZipMember member;
  member.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  check_method(reader, at, member.name);
  member.deflated = reader.u16(at + 10) == kDeflated;
  member.crc = reader.u32(at + 16);
  const Sizes sizes = read_sizes(reader, at, member.name);
  member.size = sizes.unpacked;
  member.packed = packed_bytes(reader, sizes.local, sizes.packed, member.name);
  check_size(member);
  return member;
}

void inflate_into(const ZipMember& member, std::string& out) {
  z_stream stream{};
  // Negative: raw deflate, without zlib's own header.
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) fail_internal("zlib cannot be initialised");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(member.packed.data()));
  stream.avail_in = base::checked_cast<uInt>(member.packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = base::checked_cast<uInt>(out.size());
  const int code = inflate(&stream, Z_FINISH);
  const bool whole = stream.total_out == out.size();
  inflateEnd(&stream);
  if (code != Z_STREAM_END || !whole) fail_bad_input("zip member '{}' does not unpack", member.name);
}

uint32_t checksum(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void check_crc(const ZipMember& member, std::span<const std::byte> bytes) {
  if (checksum(bytes) != member.crc) fail_bad_input("zip member '{}' has a wrong checksum", member.name);
}

void put(std::string& out, uint32_t value, int count) {
  for (int i = 0; i < count; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

/// The fields that local header and central directory have in common, from "version needed" to the name's
/// length.
void put_common(std::string& out, const ZipContent& member) {
  const bool ascii = std::all_of(member.name.begin(), member.name.end(),
                                 [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  put(out, 20, 2);
  put(out, ascii ? 0 : kUtf8, 2);
  put(out, kStored, 2);
  put(out, 0, 2);
  put(out, kDate, 2);
  put(out, checksum(std::as_bytes(std::span(member.bytes))), 4);
  put(out, base::checked_cast<uint32_t>(member.bytes.size()), 4);
  put(out, base::checked_cast<uint32_t>(member.bytes.size()), 4);
  put(out, base::checked_cast<uint16_t>(member.name.size()), 2);
}

}  // namespace

std::vector<ZipMember> list_zip(std::span<const std::byte> archive, uint64_t limit) {
  const Reader reader(archive);
  const Directory directory = find_directory(reader);
  size_t at = directory.begin;
  std::vector<ZipMember> members;
  uint64_t total = 0;
  for (uint64_t i = 0; i < directory.count; ++i) {
    members.push_back(read_member(reader, at));
    total = base::checked_add(total, members.back().size);
    if (total > limit) {
      fail_bad_input("the zip archive unpacks to more than the limit of {} bytes", limit);
    }
    at += kCentralSize + reader.u16(at + 28) + reader.u16(at + 30) + reader.u16(at + 32);
  }
  return members;
}

std::string unpack_zip_member(const ZipMember& member) {
  std::string out(member.size, '\0');
  if (member.deflated) {
    inflate_into(member, out);
  } else if (!out.empty()) {
    std::memcpy(out.data(), member.packed.data(), out.size());
  }
  check_crc(member, std::as_bytes(std::span(out)));
  return out;
}

void check_zip_member(const ZipMember& member) {
  if (member.deflated) {
    unpack_zip_member(member);
  } else {
    check_crc(member, member.packed);
  }
}

std::string format_zip(std::span<const ZipContent> members) {
  std::string out;
  std::string directory;
  for (const ZipContent& member : members) {
    put(directory, kCentralSignature, 4);
    put(directory, 20, 2);
    put_common(directory, member);
    directory.append(12, '\0');  // no extra field, no comment, first disk, no attributes
    put(directory, base::checked_cast<uint32_t>(out.size()), 4);
    directory += member.name;
    put(out, kLocalSignature, 4);
    put_common(out, member);
    put(out, 0, 2);
    out += member.name;
    out += member.bytes;
  }
  const auto start = base::checked_cast<uint32_t>(out.size());
  out += directory;
  put(out, kEndSignature, 4);
  put(out, 0, 4);
  put(out, base::checked_cast<uint16_t>(members.size()), 2);
  put(out, base::checked_cast<uint16_t>(members.size()), 2);
  put(out, base::checked_cast<uint32_t>(directory.size()), 4);
  put(out, start, 4);
  put(out, 0, 2);
  return out;
}

}  // namespace hone::tensor
