// The folder for the output files of a command.
#pragma once

#include <filesystem>
#include <vector>

namespace hone::cli {

/// Creates the output folder and its missing parents, and removes the folders that it created if nothing was
/// written into them.
class OutputFolder {
 public:
  /// Throws an environment error that names the folder if it cannot be created, because of permissions or
  /// because a file has its name.
  explicit OutputFolder(const std::filesystem::path& folder);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

 private:
  void unmake() const;

  std::vector<std::filesystem::path> made_;  ///< deepest first
};

}  // namespace hone::cli
