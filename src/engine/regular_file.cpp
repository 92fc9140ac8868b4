// See regular_file.hpp.
#include "engine/regular_file.hpp"

#include "base/error.hpp"

namespace hone::engine {

void check_regular_file(const std::filesystem::path& path) {
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(path, unknown);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) return;
  const bool folder = std::filesystem::is_directory(status);
  throw Error(ErrorKind::kBadInput, folder ? "it is a directory" : "this is not a regular file",
              path.string());
}

}  // namespace hone::engine
