// See scratch.hpp.
#include "system/scratch.hpp"

#include <stdlib.h>

#include <cerrno>
#include <cstring>

#include "base/error.hpp"

namespace hone::system {

Scratch::Scratch() {
  std::error_code error;
  const std::filesystem::path root = std::filesystem::temp_directory_path(error);
  if (error) fail_environment("there is no folder for temporary files: {}", error.message());
  std::string pattern = (root / "hone-bench-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    fail_environment("cannot make a folder for temporary files in {}: {}", root.string(),
                     std::strerror(errno));
  }
  folder_ = pattern;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::filesystem::path Scratch::make_folder(const std::string& name) const {
  const std::filesystem::path folder = folder_ / name;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail_environment("cannot create the folder {}: {}", folder.string(), error.message());
  return folder;
}

}  // namespace hone::system
