// See pending_file.hpp.
#include "trace/pending_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"

namespace hone::trace {
namespace {

[[noreturn]] void fail(const std::filesystem::path& target) {
  fail_environment("{}: cannot write the file: {}", target.string(), std::strerror(errno));
}

}  // namespace

PendingFile::PendingFile(std::filesystem::path target) : target_(std::move(target)) {
  base::check_writable(target_);
  for (int number = 1; descriptor_ < 0; ++number) {
    // Short whatever the target's name is: SQLite makes longer ones of it.
    path_ = target_.parent_path() / fmt::format(".hone.{}.{}", ::getpid(), number);
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (descriptor_ < 0 && errno != EEXIST) fail(target_);
  }
}

PendingFile::~PendingFile() {
  ::close(descriptor_);
  if (!published_) ::unlink(path_.c_str());
}

void PendingFile::publish() {
  if (::fsync(descriptor_) != 0 || ::rename(path_.c_str(), target_.c_str()) != 0) fail(target_);
  published_ = true;
  const std::filesystem::path folder = target_.has_parent_path() ? target_.parent_path() : ".";
  const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  ::fsync(directory);
  ::close(directory);
}

}  // namespace hone::trace
