// A file for as long as it is needed: what has to lie on a disk to be read, since SQLite reads nothing else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace hone::trace {

class TemporaryFile {
 public:
  /// Empty, in the folder for temporary files ($TMPDIR, else /tmp), for nobody else to read. Environment
  /// error when it cannot be made.
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// Appends at its end. Environment error when the disk is full.
  void append(std::string_view bytes);
  /// Cuts it to its first bytes.
  void shorten(uint64_t bytes);
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace hone::trace
