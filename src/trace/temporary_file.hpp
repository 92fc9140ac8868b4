// A temporary file for data that must be on a disk to be read, since SQLite reads only files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace hone::trace {

class TemporaryFile {
 public:
  /// Creates an empty file in the folder for temporary files ($TMPDIR, else /tmp) that no other user can
  /// read. Throws an environment error if that is impossible.
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// Appends to the file. Throws an environment error if the disk is full.
  void append(std::string_view bytes);
  /// Cuts the file to its first bytes.
  void shorten(uint64_t bytes);
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace hone::trace
