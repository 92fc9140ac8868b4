// See text_sink.hpp.
#include "trace/format/text_sink.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/error.hpp"

namespace hone::trace {
namespace {

/// zlib writes plain bytes with "T".
constexpr const char* kPlain = "wbT";
constexpr const char* kPacked = "wb6";
constexpr unsigned kBuffer = 1U << 16;

}  // namespace

TextSink::TextSink(std::filesystem::path path, bool gzip)
    : path_(std::move(path)), temporary_(path_.string() + ".tmp") {
  descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail();
  file_ = gzdopen(dup(descriptor_), gzip ? kPacked : kPlain);
  if (file_ == nullptr) fail();
  gzbuffer(file_, kBuffer);
}

TextSink::~TextSink() {
  if (file_ != nullptr) gzclose(file_);
  if (descriptor_ < 0) return;
  close(descriptor_);
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void TextSink::write(std::string_view text) {
  if (text.empty()) return;
  if (gzwrite(file_, text.data(), static_cast<unsigned>(text.size())) == 0) fail();
}

void TextSink::finish() {
  if (gzclose(std::exchange(file_, nullptr)) != Z_OK || fsync(descriptor_) != 0) fail();
  std::error_code error;
  std::filesystem::rename(temporary_, path_, error);
  if (error) fail_environment("{}: {}", path_.string(), error.message());
  close(std::exchange(descriptor_, -1));
}

void TextSink::fail() { fail_environment("{}: {}", path_.string(), std::strerror(errno)); }

}  // namespace hone::trace
