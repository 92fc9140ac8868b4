// See external_data.hpp. The kernel keeps a path inside the folder (openat2 with RESOLVE_BENEATH), so nothing
// can change between a check and its use. On a kernel without openat2, no link is followed at all.
#include "import/onnx/external_data.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.hpp"

namespace hone::importer {
namespace {

constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

/// Opens component by component without following any link.
int open_without_links(int folder, const std::filesystem::path& location) {
  int at = ::dup(folder);
  for (auto part = location.begin(); part != location.end() && at >= 0; ++part) {
    const bool last = std::next(part) == location.end();
    const int next = ::openat(at, part->c_str(), kFlags | O_NOFOLLOW | (last ? 0 : O_DIRECTORY));
    const int error = errno;
    ::close(at);
    errno = error;
    at = next;
  }
  return at;
}

int open_beneath(int folder, const std::filesystem::path& location) {
  open_how how{};
  how.flags = static_cast<uint64_t>(kFlags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const auto fd = static_cast<int>(::syscall(SYS_openat2, folder, location.c_str(), &how, sizeof how));
  if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) return fd;
  return open_without_links(folder, location);
}

void check_location(const std::string& location) {
  const std::filesystem::path path(location);
  if (location.empty()) fail_bad_input("field external_data: location is empty");
  if (location.find('\0') != std::string::npos)
    fail_bad_input("field external_data: location holds a zero byte");
  if (path.is_absolute()) fail_bad_input("field external_data: location '{}' is an absolute path", location);
  for (const auto& part : path) {
    if (part == "..")
      fail_bad_input("field external_data: location '{}' leaves the model's folder", location);
  }
}

}  // namespace

struct ExternalFolder::Mapping {
  const std::byte* data = nullptr;
  size_t size = 0;
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (data != nullptr) ::munmap(const_cast<std::byte*>(data), size);
  }
};

std::shared_ptr<const ExternalFolder::Mapping> ExternalFolder::open(const std::string& location) const {
  if (folder_.empty())
    fail_bad_input("field external_data: '{}' cannot be read: the model has no folder", location);
  check_location(location);
  const int folder = ::open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    fail_bad_input("cannot open the model's folder {}: {}", folder_.string(), std::strerror(errno));
  }
  const int fd = open_beneath(folder, location);
  const int error = errno;
  ::close(folder);
  if (fd < 0 && (error == EXDEV || error == ELOOP)) {
    fail_bad_input("field external_data: location '{}' leaves the model's folder", location);
  }
  if (fd < 0) fail_bad_input("field external_data: cannot open '{}': {}", location, std::strerror(error));
  const std::shared_ptr<const int> closer(new int(fd), [](const int* p) {
    ::close(*p);
    delete p;
  });
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    fail_bad_input("field external_data: '{}' is not a regular file", location);
  }
  if (info.st_nlink != 1) {
    fail_bad_input(
        "field external_data: '{}' is a hard link to a file that may lie elsewhere; copy it instead",
        location);
  }
  auto mapping = std::make_shared<Mapping>();
  if (info.st_size == 0) return mapping;
  void* data = ::mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED)
    fail_environment("field external_data: cannot map '{}': {}", location, std::strerror(errno));
  mapping->data = static_cast<const std::byte*>(data);
  mapping->size = static_cast<size_t>(info.st_size);
  return mapping;
}

ExternalBytes ExternalFolder::map(const std::string& location, uint64_t offset,
                                  std::optional<uint64_t> length) {
  auto& mapping = files_[location];
  if (mapping == nullptr) mapping = open(location);
  const uint64_t size = mapping->size;
  if (offset > size || (length && *length > size - offset)) {
    fail_bad_input("field external_data: '{}' holds {} bytes, but offset {} and length {} are asked for",
                   location, size, offset, length ? fmt::format("{}", *length) : "to the end");
  }
  return {{mapping->data + offset, static_cast<size_t>(length.value_or(size - offset))}, mapping};
}

}  // namespace hone::importer
