// See file.hpp. The write path follows "All File Systems Are Not Created Equal" (OSDI 2014).
#include "base/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

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
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// Opens a regular file for reading; size in *size.
int open_regular(const std::filesystem::path& path, uint64_t* size) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    throw Error(ErrorKind::kBadInput, fmt::format("cannot open the file: {}", std::strerror(errno)),
                path.string());
  }
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    throw Error(ErrorKind::kBadInput, "this is not a regular file", path.string());
  }
  *size = static_cast<uint64_t>(info.st_size);
  return fd;
}

[[noreturn]] void fail_write(const std::filesystem::path& path, int error) {
  throw Error(ErrorKind::kEnvironment, fmt::format("cannot write the file: {}", std::strerror(error)),
              path.string());
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

void sync_folder(const std::filesystem::path& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) ::fsync(fd.get());
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
  const std::filesystem::path temporary = path.string() + ".tmp." + std::to_string(::getpid());
  Descriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (fd.get() < 0) fail_write(path, errno);
  bool good = true;
  for (const std::string_view part : parts) good = good && write_all(fd.get(), part);
  good = good && ::fsync(fd.get()) == 0;
  int error = errno;
  if (::close(fd.release()) != 0 && good) {
    good = false;
    error = errno;
  }
  if (good && ::rename(temporary.c_str(), path.c_str()) != 0) {
    good = false;
    error = errno;
  }
  if (!good) {
    ::unlink(temporary.c_str());
    fail_write(path, error);
  }
  sync_folder(path.has_parent_path() ? path.parent_path() : ".");
}

void write_file_atomic(const std::filesystem::path& path, std::string_view content) {
  write_file_atomic(path, std::span(&content, 1));
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
  if (const auto xdg = variable("XDG_CACHE_HOME"); !xdg.empty()) return xdg / "hone";
  if (const auto home = variable("HOME"); !home.empty()) return home / ".cache" / "hone";
  return std::filesystem::temp_directory_path() / "hone-cache";
}

}  // namespace hone::base
