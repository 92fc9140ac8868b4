// See file.hpp.
#include "base/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.hpp"
#include "base/pending_file.hpp"

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

/// Opens a regular file for reading; stores its size in *size.
int open_regular(const std::filesystem::path& path, uint64_t* size) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
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

/// A cache folder for users without a home. It is below a folder that all users share, so it must belong to
/// this user. Empty if somebody else has created it.
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
    if (errno != EEXIST) {
      throw Error(ErrorKind::kEnvironment, fmt::format("cannot write the file: {}", std::strerror(errno)),
                  path_.string());
    }
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
  // The specification of these folders says about relative paths: "consider the path invalid and ignore it".
  if (const auto xdg = variable("XDG_CACHE_HOME"); xdg.is_absolute()) return xdg / "hone";
  if (const auto home = variable("HOME"); !home.empty()) return home / ".cache" / "hone";
  return temporary_cache();
}

}  // namespace hone::base
