// A file that is written piece by piece, compressed with gzip or not, and gets its name only when it is
// complete.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/pending_file.hpp"

struct gzFile_s;

namespace hone::trace {

class TextSink {
 public:
  /// Writes to a temporary file in the same folder. Throws an environment error if that is impossible.
  TextSink(std::filesystem::path path, bool gzip);
  /// Removes the temporary file if `finish` was not reached.
  ~TextSink();
  TextSink(const TextSink&) = delete;
  TextSink& operator=(const TextSink&) = delete;

  void write(std::string_view text);
  /// Syncs the file and renames it. Throws an environment error if, for example, the disk is full.
  void finish();

 private:
  [[noreturn]] void fail();

  std::filesystem::path path_;
  base::PendingFile pending_;
  gzFile_s* file_ = nullptr;
};

}  // namespace hone::trace
