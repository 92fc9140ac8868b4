// A file written piece by piece, packed with gzip or not, that has its name only when it is whole.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/pending_file.hpp"

struct gzFile_s;

namespace hone::trace {

class TextSink {
 public:
  /// Writes to a file of another name next to it. Environment error when it cannot.
  TextSink(std::filesystem::path path, bool gzip);
  /// Removes what was written when `finish` was not reached.
  ~TextSink();
  TextSink(const TextSink&) = delete;
  TextSink& operator=(const TextSink&) = delete;

  void write(std::string_view text);
  /// Syncs the file and gives it its name. Environment error when the disk is full, say.
  void finish();

 private:
  [[noreturn]] void fail();

  std::filesystem::path path_;
  base::PendingFile pending_;
  gzFile_s* file_ = nullptr;
};

}  // namespace hone::trace
