// See byte_source.hpp.
#include "trace/format/byte_source.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/error.hpp"

namespace hone::trace {
namespace {

constexpr size_t kPackedBytes = size_t{32} << 10;
/// Window bits that make zlib expect a gzip header (zlib.h, inflateInit2).
constexpr int kGzipWindow = 15 + 16;

void check_regular(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found)
    fail_bad_input("{}: no such file", path.string());
  if (error) fail_environment("{}: {}", path.string(), error.message());
  if (std::filesystem::is_directory(status))
    fail_bad_input("{}: this is a folder; name a file in it", path.string());
  if (!std::filesystem::is_regular_file(status)) fail_bad_input("{}: this is no regular file", path.string());
}

}  // namespace

ByteSource::ByteSource(const std::filesystem::path& path) {
  check_regular(path);
  file_.reset(std::fopen(path.c_str(), "rb"));
  if (file_ == nullptr) fail_environment("{}: {}", path.string(), std::strerror(errno));
  std::array<unsigned char, 2> magic{};
  const bool packed = std::fread(magic.data(), 1, magic.size(), file_.get()) == magic.size() &&
                      magic[0] == 0x1f && magic[1] == 0x8b;
  std::rewind(file_.get());
  if (!packed) return;
  packed_.resize(kPackedBytes);
  inflater_ = std::make_unique<z_stream>();
  if (inflateInit2(inflater_.get(), kGzipWindow) != Z_OK) fail_environment("zlib could not be started");
}

ByteSource::~ByteSource() {
  if (inflater_ != nullptr) inflateEnd(inflater_.get());
}

size_t ByteSource::read(std::span<char> buffer) {
  if (finished_ || buffer.empty()) return 0;
  const size_t count = inflater_ == nullptr ? read_plain(buffer) : inflate_into(buffer);
  finished_ = count < buffer.size();
  return count;
}

size_t ByteSource::read_plain(std::span<char> buffer) {
  const size_t count = std::fread(buffer.data(), 1, buffer.size(), file_.get());
  if (std::ferror(file_.get()) != 0) damage_ = "could not be read to its end";
  return count;
}

/// Reads more packed bytes; false at the end of the file.
bool ByteSource::refill() {
  const size_t count = std::fread(packed_.data(), 1, packed_.size(), file_.get());
  inflater_->next_in = packed_.data();
  inflater_->avail_in = static_cast<uInt>(count);
  return count > 0;
}

size_t ByteSource::inflate_into(std::span<char> buffer) {
  size_t done = 0;
  while (done < buffer.size()) {
    if (inflater_->avail_in == 0 && !refill()) {
      if (!between_members_) damage_ = "is compressed and ends in the middle";
      break;
    }
    if (between_members_) {
      // Bytes after a member that do not begin another member are padding, as for gzip itself.
      if (*inflater_->next_in != 0x1f) break;
      inflateReset(inflater_.get());
      between_members_ = false;
    }
    const size_t wanted = std::min<size_t>(buffer.size() - done, size_t{1} << 30);
    inflater_->next_out = reinterpret_cast<unsigned char*>(buffer.data() + done);
    inflater_->avail_out = static_cast<uInt>(wanted);
    const int code = inflate(inflater_.get(), Z_NO_FLUSH);
    done += wanted - inflater_->avail_out;
    between_members_ = code == Z_STREAM_END;
    if (code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR) continue;
    damage_ = "is compressed and damaged";
    break;
  }
  return done;
}

}  // namespace hone::trace
