// A database file as SQLite can open it: unpacked where it is compressed with gzip, cut to whole pages where
// it breaks off.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "trace/temporary_file.hpp"

namespace hone::trace {

class SqliteFile {
 public:
  /// Bad input when the file is not there, unpacks to much more than any trace or holds not even one page.
  explicit SqliteFile(const std::filesystem::path& path);

  /// The path to open: the file itself, or a copy that goes away with this object (whoever has it open keeps
  /// it).
  const std::filesystem::path& path() const { return copy_ ? copy_->path() : original_; }
  uint64_t bytes() const { return bytes_; }
  /// The damage, as the text of a doubt; empty when the file is as long as it says.
  const std::string& damage() const { return damage_; }

 private:
  void unpack();
  /// The copy is what `limit` bytes of the file are at most.
  void copy(uint64_t limit);
  void cut_to_pages();

  std::filesystem::path original_;
  std::optional<TemporaryFile> copy_;
  uint64_t bytes_ = 0;
  std::string damage_;
};

}  // namespace hone::trace
