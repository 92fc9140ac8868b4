// A file in the making next to its target: whole under the target's name, or not there.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace hone::base {

class PendingFile {
 public:
  /// Without a name until it is published, where the file system can do that: then nothing remains even when
  /// the program is killed. Or with one from the start, for a library that opens files itself.
  enum class Name { kWhenPublished, kFromTheStart };

  /// Empty, in the target's folder, under a name that no file had. Environment error when it cannot be made
  /// or the target is no regular file.
  explicit PendingFile(std::filesystem::path target, Name name = Name::kWhenPublished);
  /// Removes what was not published.
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  /// Empty while it has no name.
  const std::filesystem::path& path() const { return path_; }
  /// Descriptor for writing; of the file itself.
  int descriptor() const { return descriptor_; }
  /// Environment error when the disk is full, say.
  void write(std::string_view content);
  /// Syncs it, moves it over its target, and syncs the folder. Environment error as above.
  void publish();

 private:
  /// Names that no file has, short whatever the target's is, until `make` takes one or fails for another
  /// reason than that it is taken; false then.
  bool give_name(const std::function<bool(const char* name)>& make);
  bool open_named();
  bool link_name();

  std::filesystem::path target_;
  std::filesystem::path folder_;
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace hone::base
