// Files: reading with a limit, mapping, and writing so that a reader sees either the old file or the new one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace hone::base {

/// Returns the whole file; bad input if it is missing, is not a regular file, or is larger than `limit`
/// bytes.
std::string read_file(const std::filesystem::path& path, uint64_t limit = uint64_t{1} << 40);

/// Writes a file without a name (or named `.hone.<pid>.<n>` if the file system requires a name) next to the
/// target, syncs it, renames it to the target, and syncs the folder. On an environment error (disk full,
/// folder read-only or missing, target not a regular file), the old file is unchanged and no temporary file
/// remains.
void write_file_atomic(const std::filesystem::path& path, std::span<const std::string_view> parts);
void write_file_atomic(const std::filesystem::path& path, std::string_view content);

/// Throws the environment error with which writing this file would end (except for a full disk). Call it
/// before the work whose result the file will hold.
void check_writable(const std::filesystem::path& path);

/// A new file that is written later. It has the requested name or, if that is taken, the first free one of
/// name-2, name-3 … (before the extension). It is created at once, so that nobody else can take the name, and
/// removed at the end if it is still empty. Environment error if it cannot be created.
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

/// A private read-only mapping of a whole file, for the lifetime of the object. An empty file has no bytes.
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

/// Returns $HONE_CACHE_DIR, else $XDG_CACHE_HOME/hone if that is absolute, else ~/.cache/hone; it does not
/// create the folder. If none of them is set, it creates and returns a folder for temporary files that
/// belongs only to the user; empty if that fails.
std::filesystem::path cache_directory();

}  // namespace hone::base
