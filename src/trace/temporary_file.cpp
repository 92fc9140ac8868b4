// See temporary_file.hpp.
#include "trace/temporary_file.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.hpp"

namespace hone::trace {

TemporaryFile::TemporaryFile() {
  std::string name = (std::filesystem::temp_directory_path() / "hone-trace-XXXXXX").string();
  descriptor_ = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail_environment("{}: {}", name, std::strerror(errno));
  path_ = name;
}

TemporaryFile::~TemporaryFile() {
  ::close(descriptor_);
  ::unlink(path_.c_str());
}

void TemporaryFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_environment("{}: {}", path_.string(), std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void TemporaryFile::shorten(uint64_t bytes) {
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0)
    fail_environment("{}: {}", path_.string(), std::strerror(errno));
}

}  // namespace hone::trace
