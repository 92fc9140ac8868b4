// See text_sink.hpp.
#include "trace/format/text_sink.hpp"

#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace hone::trace {
namespace {

/// The mode "T" makes zlib write uncompressed bytes.
constexpr const char* kPlain = "wbT";
constexpr const char* kPacked = "wb6";
constexpr unsigned kBuffer = 1U << 16;

}  // namespace

TextSink::TextSink(std::filesystem::path path, bool gzip)
    : path_(std::move(path)),
      pending_(path_),
      file_(gzdopen(dup(pending_.descriptor()), gzip ? kPacked : kPlain)) {
  if (file_ == nullptr) fail();
  gzbuffer(file_, kBuffer);
}

TextSink::~TextSink() {
  if (file_ != nullptr) gzclose(file_);
}

void TextSink::write(std::string_view text) {
  if (text.empty()) return;
  if (gzwrite(file_, text.data(), static_cast<unsigned>(text.size())) == 0) fail();
}

void TextSink::finish() {
  if (gzclose(std::exchange(file_, nullptr)) != Z_OK) fail();
  pending_.publish();
}

void TextSink::fail() { fail_environment("{}: {}", path_.string(), std::strerror(errno)); }

}  // namespace hone::trace
