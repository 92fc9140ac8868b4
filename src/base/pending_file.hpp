// A file that is being written next to its target: under the target's name it is either complete or absent.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace hone::base {

class PendingFile {
 public:
  /// With kWhenPublished, the file has no name until it is published (if the file system supports that), so
  /// nothing remains even if the program is killed. With kFromTheStart it has a name at once, for a library
  /// that opens files itself.
  enum class Name { kWhenPublished, kFromTheStart };

  /// Creates an empty file in the target's folder under an unused name. Environment error if that fails, or
  /// if the target is not a regular file.
  explicit PendingFile(std::filesystem::path target, Name name = Name::kWhenPublished);
  /// Removes the file unless it was published.
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  /// Empty as long as it has no name.
  const std::filesystem::path& path() const { return path_; }
  /// Descriptor of the file, for writing.
  int descriptor() const { return descriptor_; }
  /// Environment error if, for example, the disk is full.
  void write(std::string_view content);
  /// Syncs the file, renames it to the target, and syncs the folder. Same errors as write().
  void publish();

 private:
  /// Calls `make` with unused names, which are short even if the target's name is long, until it succeeds or
  /// fails for another reason than an existing name; returns false in the latter case.
  bool give_name(const std::function<bool(const char* name)>& make);
  bool open_named();
  bool link_name();

  std::filesystem::path target_;
  std::filesystem::path folder_;
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace hone::base
