// See pending_file.hpp. The write path follows "All File Systems Are Not Created Equal" (OSDI 2014).
#include "base/pending_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/shell_word.hpp"

namespace hone::base {
namespace {

[[noreturn]] void fail(const std::filesystem::path& target, const std::string& reason) {
  throw Error(ErrorKind::kEnvironment, fmt::format("cannot write the file: {}", reason), target.string());
}

/// Renaming would replace a device or a pipe by a file.
void check_target(const std::filesystem::path& target) {
  struct stat info {};
  const bool found = ::stat(target.c_str(), &info) == 0;
  if (!found && errno == ENAMETOOLONG) fail(target, std::strerror(errno));
  if (found && !S_ISREG(info.st_mode))
    fail(target, S_ISDIR(info.st_mode) ? "it is a directory" : "it is not a regular file");
}

void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

PendingFile::PendingFile(std::filesystem::path target, Name name)
    : target_(std::move(target)), folder_(target_.has_parent_path() ? target_.parent_path() : ".") {
  check_target(target_);
  if (name == Name::kWhenPublished)
    descriptor_ = ::open(folder_.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0644);
  const bool named = name == Name::kFromTheStart || errno == EOPNOTSUPP || errno == EISDIR;
  if (descriptor_ >= 0 || (named && open_named())) return;
  if (errno != ENOENT) fail(target_, std::strerror(errno));
  struct stat info {};  // folders of /proc exist but cannot contain new files
  if (::stat(folder_.c_str(), &info) == 0) fail(target_, "its folder takes no new files");
  fail(target_, fmt::format("there is no folder {0} (mkdir -p {0})", shell_word(folder_.string())));
}

PendingFile::~PendingFile() {
  ::close(descriptor_);
  if (!path_.empty()) ::unlink(path_.c_str());
}

void PendingFile::write(std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(descriptor_, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(target_, std::strerror(errno));
    content.remove_prefix(static_cast<size_t>(n));
  }
}

void PendingFile::publish() {
  if (::fsync(descriptor_) != 0 || (path_.empty() && !link_name()) ||
      ::rename(path_.c_str(), target_.c_str()) != 0)
    fail(target_, std::strerror(errno));
  path_.clear();
  sync_folder(folder_);
}

bool PendingFile::give_name(const std::function<bool(const char* name)>& make) {
  for (int number = 1;; ++number) {
    const std::filesystem::path name = folder_ / fmt::format(".hone.{}.{}", ::getpid(), number);
    if (make(name.c_str())) {
      path_ = name;
      return true;
    }
    if (errno != EEXIST) return false;
  }
}

bool PendingFile::open_named() {
  return give_name([this](const char* name) {
    descriptor_ = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    return descriptor_ >= 0;
  });
}

bool PendingFile::link_name() {
  const std::string self = "/proc/self/fd/" + std::to_string(descriptor_);
  return give_name([&self](const char* name) {
    return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
  });
}

}  // namespace hone::base
