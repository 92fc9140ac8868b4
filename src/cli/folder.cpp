// See folder.hpp.
#include "cli/folder.hpp"

#include "base/error.hpp"

namespace hone::cli {

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail_environment("cannot create the folder {}: {}", folder.string(), error.message());
}

}  // namespace hone::cli
