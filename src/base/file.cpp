// See file.hpp. The write path follows "All File Systems Are Not Created Equal" (OSDI 2014).
#include "base/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.hpp"

namespace hone::base {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

/// Opens a regular file for reading; size in *size.
int open_regular(const std::filesystem::path& path, uint64_t* size) {
  // A pipe would be waited for until somebody writes to it.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    throw Error(ErrorKind::kBadInput, fmt::format("cannot open the file: {}", std::strerror(errno)),
                path.string());
  }
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    throw Error(ErrorKind::kBadInput,
                S_ISDIR(info.st_mode) ? "it is a directory" : "this is not a regular file", path.string());
  }
  *size = static_cast<uint64_t>(info.st_size);
  return fd;
}

[[noreturn]] void fail_write(const std::filesystem::path& path, const char* reason) {
  throw Error(ErrorKind::kEnvironment, fmt::format("cannot write the file: {}", reason), path.string());
}

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    content.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

/// A file in the making beside its target. It has no name until it is complete, where the file system can do
/// that, so that nothing stays behind even when the program is killed.
class PendingFile {
 public:
  explicit PendingFile(const std::filesystem::path& target)
      : target_(target), folder_(target.has_parent_path() ? target.parent_path() : ".") {
    struct stat info {};
    const bool found = ::stat(target.c_str(), &info) == 0;
    if (!found && errno == ENAMETOOLONG) fail_write(target, std::strerror(errno));
    if (found && !S_ISREG(info.st_mode)) {
      // A rename would put a file in the place of a device or of a pipe.
      fail_write(target, S_ISDIR(info.st_mode) ? "it is a directory" : "it is not a regular file");
    }
    fd_ = ::open(folder_.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0644);
    if (fd_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
      give_name([this](const char* name) {
        fd_ = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        return fd_ >= 0;
      });
    }
    if (fd_ < 0 && errno == ENOENT)  // of /proc, too
      fail_write(target, ::stat(folder_.c_str(), &info) == 0 ? "its folder takes no new files"
                                                             : "its folder does not exist");
    if (fd_ < 0) fail_write(target, std::strerror(errno));
  }
  ~PendingFile() {
    ::close(fd_);
    if (named_) ::unlink(temporary_.c_str());
  }
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  void write(std::string_view content) {
    if (!write_all(fd_, content)) fail_write(target_, std::strerror(errno));
  }

  /// Syncs, then puts the file in the place of its target.
  void publish() {
    if (::fsync(fd_) != 0 || (!named_ && !link_name()) ||
        ::rename(temporary_.c_str(), target_.c_str()) != 0) {
      fail_write(target_, std::strerror(errno));
    }
    named_ = false;
    const Descriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() >= 0) ::fsync(folder.get());
  }

 private:
  /// One that no file has, short whatever the target's is. False where `make` fails for another reason.
  template <class Make>
  bool give_name(const Make& make) {
    for (int number = 1; !named_; ++number) {
      temporary_ = folder_ / fmt::format(".hone.{}.{}", ::getpid(), number);
      named_ = make(temporary_.c_str());
      if (!named_ && errno != EEXIST) return false;
    }
    return true;
  }

  bool link_name() {
    const std::string self = "/proc/self/fd/" + std::to_string(fd_);
    return give_name([&](const char* name) {
      return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    });
  }

  std::filesystem::path target_;
  std::filesystem::path folder_;
  std::filesystem::path temporary_;
  int fd_ = -1;
  bool named_ = false;
};

/// For those without a home: below a folder that all users share, so nobody else may have made it. Empty
/// where somebody has.
std::filesystem::path temporary_cache() {
  std::error_code error;
  const std::filesystem::path root = std::filesystem::temp_directory_path(error);
  if (error) return {};
  const std::filesystem::path folder = root / fmt::format("hone-cache-{}", ::geteuid());
  ::mkdir(folder.c_str(), 0700);
  struct stat info {};
  const bool mine = ::lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
                    info.st_uid == ::geteuid() && (info.st_mode & 077) == 0;
  return mine ? folder : std::filesystem::path();
}

}  // namespace

std::string read_file(const std::filesystem::path& path, uint64_t limit) {
  uint64_t size = 0;
  const Descriptor fd(open_regular(path, &size));
  if (size > limit) {
    throw Error(ErrorKind::kBadInput,
                fmt::format("the file holds {} bytes, more than the limit of {}", size, limit),
                path.string());
  }
  std::string content(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t n = ::read(fd.get(), content.data() + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      throw Error(ErrorKind::kEnvironment, fmt::format("cannot read the file: {}", std::strerror(errno)),
                  path.string());
    }
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  content.resize(done);
  return content;
}

void write_file_atomic(const std::filesystem::path& path, std::span<const std::string_view> parts) {
  PendingFile file(path);
  for (const std::string_view part : parts) file.write(part);
  file.publish();
}

void write_file_atomic(const std::filesystem::path& path, std::string_view content) {
  write_file_atomic(path, std::span(&content, 1));
}

void check_writable(const std::filesystem::path& path) { const PendingFile file(path); }

ReservedFile::ReservedFile(const std::filesystem::path& wanted) : path_(wanted) {
  for (int number = 2;; ++number) {
    const Descriptor fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (fd.get() >= 0) return;
    if (errno != EEXIST) fail_write(path_, std::strerror(errno));
    path_ = wanted.parent_path() /
            fmt::format("{}-{}{}", wanted.stem().string(), number, wanted.extension().string());
  }
}

ReservedFile::~ReservedFile() {
  std::error_code ignored;
  if (std::filesystem::file_size(path_, ignored) == 0) std::filesystem::remove(path_, ignored);
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  uint64_t size = 0;
  const Descriptor fd(open_regular(path, &size));
  if (size == 0) return;
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) {
    throw Error(ErrorKind::kEnvironment, fmt::format("cannot map the file: {}", std::strerror(errno)),
                path.string());
  }
  data_ = static_cast<const std::byte*>(data);
  size_ = size;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

std::filesystem::path cache_directory() {
  const auto variable = [](const char* name) -> std::filesystem::path {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (auto chosen = variable("HONE_CACHE_DIR"); !chosen.empty()) return chosen;
  // The specification of these folders: "consider the path invalid and ignore it".
  if (const auto xdg = variable("XDG_CACHE_HOME"); xdg.is_absolute()) return xdg / "hone";
  if (const auto home = variable("HOME"); !home.empty()) return home / ".cache" / "hone";
  return temporary_cache();
}

}  // namespace hone::base
