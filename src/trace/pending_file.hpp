// A file in the making beside its target: whole under the target's name, or not there.
#pragma once

#include <filesystem>

namespace hone::trace {

/// base::write_file_atomic for those who write piece by piece, or through a library that wants a name.
class PendingFile {
 public:
  /// Empty, in the target's folder, under a name that no file had. Environment error when it cannot be made
  /// or the target is no regular file.
  explicit PendingFile(std::filesystem::path target);
  /// Removes what was not published.
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// For writing.
  int descriptor() const { return descriptor_; }
  /// Syncs it, puts it in the place of its target, and syncs the folder. Environment error when the disk is
  /// full, say.
  void publish();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
  int descriptor_ = -1;
  bool published_ = false;
};

}  // namespace hone::trace
