// See folder.hpp.
#include "cli/folder.hpp"

#include <unistd.h>

#include "base/error.hpp"

namespace hone::cli {

OutputFolder::OutputFolder(const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(folder, error);
  for (std::filesystem::path path = whole; path.has_relative_path(); path = path.parent_path()) {
    if (std::filesystem::exists(std::filesystem::symlink_status(path, error))) break;
    made_.push_back(path);
  }
  std::filesystem::create_directories(folder, error);
  if (!error) return;
  unmake();
  fail_environment("cannot create the folder {}: {}; choose another one with -o", folder.string(),
                   error.message());
}

OutputFolder::~OutputFolder() { unmake(); }

void OutputFolder::unmake() const {
  // rmdir removes only empty folders.
  for (const std::filesystem::path& path : made_) ::rmdir(path.c_str());
}

}  // namespace hone::cli
