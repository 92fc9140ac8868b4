// A database file in a form that SQLite can open: unpacked if it is compressed with gzip, and cut to whole
// pages if it is incomplete.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "trace/temporary_file.hpp"

namespace hone::trace {

class SqliteFile {
 public:
  /// Throws bad input if the file does not exist, unpacks to much more than any trace, or holds less than one
  /// page.
  explicit SqliteFile(const std::filesystem::path& path);

  /// The path to open: the file itself, or a copy that is removed with this object (an open copy stays
  /// usable).
  const std::filesystem::path& path() const { return copy_ ? copy_->path() : original_; }
  uint64_t bytes() const { return bytes_; }
  /// The damage, as the text of a doubt; empty if the file has the length in its header.
  const std::string& damage() const { return damage_; }

 private:
  void unpack();
  /// Copies at most the first `limit` bytes of the file.
  void copy(uint64_t limit);
  void cut_to_pages();

  std::filesystem::path original_;
  std::optional<TemporaryFile> copy_;
  uint64_t bytes_ = 0;
  std::string damage_;
};

}  // namespace hone::trace
