// The folder into which commands put several files.
#pragma once

#include <filesystem>
#include <vector>

namespace hone::cli {

/// A folder for a command's files: made, with those above it, where they are missing, and unmade again where
/// nothing came into it.
class OutputFolder {
 public:
  /// Environment error that names it when it cannot be made, because of permissions or of a file in its
  /// place.
  explicit OutputFolder(const std::filesystem::path& folder);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

 private:
  void unmake() const;

  std::vector<std::filesystem::path> made_;  ///< the deepest first
};

}  // namespace hone::cli
