// Files: reading with a limit, mapping, and writing so that a reader sees the old file or the new one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace hone::base {

/// The whole file; bad input when it is missing, is no regular file, or is larger than `limit` bytes.
std::string read_file(const std::filesystem::path& path, uint64_t limit = uint64_t{1} << 40);

/// Writes a file without a name (or `.hone.<pid>.<n>`, where the file system wants one) next to the target,
/// syncs it, renames it to the target, syncs the folder. Environment error (disk full, read-only or missing
/// folder, a target that is no regular file) leaves the old file as it was and no temporary file.
void write_file_atomic(const std::filesystem::path& path, std::span<const std::string_view> parts);
void write_file_atomic(const std::filesystem::path& path, std::string_view content);

/// The environment error that writing a file here would end in (but for a full disk), before the work whose
/// result it shall hold.
void check_writable(const std::filesystem::path& path);

/// A file that did not exist before, to be written later: with the name asked for or, where that is taken,
/// the first free one of name-2, name-3 … before the extension. It exists from now on, so nobody else takes
/// the name. Removed at the end when it is still empty. Environment error when it cannot be made.
class ReservedFile {
 public:
  explicit ReservedFile(const std::filesystem::path& wanted);
  ~ReservedFile();
  ReservedFile(const ReservedFile&) = delete;
  ReservedFile& operator=(const ReservedFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A private read-only map of a whole file, alive as long as the object. Empty files map to no bytes.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// $HONE_CACHE_DIR, else $XDG_CACHE_HOME/hone where that is absolute, else ~/.cache/hone; not created.
/// Without any of them a folder for temporary files that belongs only to the user, and is created; empty
/// where it cannot be.
std::filesystem::path cache_directory();

}  // namespace hone::base
