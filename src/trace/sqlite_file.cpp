// See sqlite_file.hpp. The header is that of "Database File Format", 1.3 (sqlite.org/fileformat2.html).
#include "trace/sqlite_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "trace/format/byte_source.hpp"

namespace hone::trace {
namespace {

constexpr size_t kHeaderBytes = 100;
constexpr size_t kPiece = size_t{1} << 20;
/// Largest growth of a compressed file: recorded traces grow 5 to 20 times, and the maximum of gzip is 1032
/// times.
constexpr uint64_t kMostGrowth = 128;
constexpr uint64_t kAlwaysAllowed = uint64_t{64} << 20;

uint64_t big_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

std::string first_bytes(const std::filesystem::path& path) {
  std::string bytes(kHeaderBytes, '\0');
  bytes.resize(ByteSource(path).read(bytes));
  return bytes;
}

/// 0 if the header is invalid.
uint64_t page_bytes(std::string_view header) {
  if (header.size() < kHeaderBytes) return 0;
  const uint64_t bytes = big_endian(header.substr(16, 2));
  if (bytes == 1) return 65536;
  return bytes >= 512 && std::has_single_bit(bytes) ? bytes : 0;
}

/// 0 if the header has no count: old writers left the field unset.
uint64_t page_count(std::string_view header) {
  const bool valid = header.substr(24, 4) == header.substr(92, 4);
  return valid ? big_endian(header.substr(28, 4)) : 0;
}

}  // namespace

SqliteFile::SqliteFile(const std::filesystem::path& path) : original_(path) {
  unpack();
  bytes_ = std::filesystem::file_size(this->path());
  cut_to_pages();
}

void SqliteFile::unpack() {
  if (!ByteSource(original_).packed()) return;
  const uint64_t limit = std::max(kAlwaysAllowed, std::filesystem::file_size(original_) * kMostGrowth);
  copy(limit);
  if (std::filesystem::file_size(path()) > limit)
    fail_bad_input("{}: unpacks to more than {} MB, which no trace of its size does", original_.string(),
                   limit >> 20);
}

void SqliteFile::copy(uint64_t limit) {
  ByteSource source(original_);
  copy_.emplace();
  std::string buffer(kPiece, '\0');
  for (uint64_t done = 0; done <= limit;) {
    const size_t count = source.read(buffer);
    if (count == 0) break;
    copy_->append(std::string_view(buffer).substr(0, count));
    done += count;
  }
  if (!source.damage().empty()) damage_ = source.damage() + "; what came after is missing";
}

void SqliteFile::cut_to_pages() {
  const std::string header = first_bytes(path());
  const uint64_t page = page_bytes(header);
  if (page == 0) return;  // no database; SQLite has a better message for it
  const uint64_t pages = bytes_ / page;
  if (pages == 0) fail_bad_input("{}: breaks off in its first page", original_.string());
  const uint64_t announced = page_count(header);
  const bool partial = bytes_ % page != 0;
  if (!partial && pages >= announced) return;
  damage_ = announced > pages
                ? fmt::format("breaks off after {} of {} pages; what was in the others is missing", pages,
                              announced)
                : "breaks off in its last page, which is missing";
  if (!partial) return;
  // SQLite would read the missing part of a page as zeros, and so as rows of zeros.
  if (!copy_) copy(bytes_);
  bytes_ = pages * page;
  copy_->shorten(bytes_);
}

}  // namespace hone::trace
