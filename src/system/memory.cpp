// See memory.hpp.
#include "system/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "base/error.hpp"
#include "base/out_of_memory.hpp"

namespace hone::system {
namespace {

constexpr size_t kAlignment = 64;
/// Additional size of a tensor (object, shape, counts), so that many tiny tensors count too.
constexpr size_t kOverheadBytes = 192;
constexpr int64_t kMegabyte = 1'000'000;

std::atomic<int64_t> g_used = 0;

int64_t read_limit() {
  const char* variable = std::getenv("HONE_MEMORY_LIMIT_MB");
  if (variable == nullptr) return machine_memory() / 2;
  const std::string_view text = variable;
  int64_t megabytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), megabytes);
  if (error != std::errc() || end != text.data() + text.size() || megabytes < 1 ||
      megabytes > INT64_MAX / kMegabyte) {
    fail_usage("HONE_MEMORY_LIMIT_MB is '{}', expected a positive number of megabytes", text);
  }
  return megabytes * kMegabyte;
}

}  // namespace

int64_t machine_memory() {
  const auto memory = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  std::ifstream file("/sys/fs/cgroup/memory.max");  // absent, or "max": no limit
  int64_t group = 0;
  return file >> group ? std::min(memory, group) : memory;
}

int64_t memory_limit() {
  static const int64_t kLimit = read_limit();
  return kLimit;
}

std::shared_ptr<std::byte> allocate_bytes(size_t size) {
  const size_t rounded = std::max(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment);
  const auto cost = static_cast<int64_t>(rounded + kOverheadBytes);
  const int64_t used = g_used.fetch_add(cost);
  if (used > memory_limit() - cost) {
    g_used -= cost;
    throw OutOfMemory(
        ErrorKind::kBadInput,
        fmt::format("{:.1f} MB for a tensor next to {:.1f} MB in use pass the limit of {:.1f} MB"
                    " (HONE_MEMORY_LIMIT_MB sets another)",
                    static_cast<double>(size) / kMegabyte, static_cast<double>(used) / kMegabyte,
                    static_cast<double>(memory_limit()) / kMegabyte));
  }
  void* data = std::aligned_alloc(kAlignment, rounded);
  if (data == nullptr) {
    g_used -= cost;
    throw OutOfMemory(ErrorKind::kEnvironment,
                      fmt::format("out of memory: cannot allocate {} bytes for a tensor", size));
  }
  return {static_cast<std::byte*>(data), [cost](std::byte* bytes) {
            std::free(bytes);
            g_used -= cost;
          }};
}

}  // namespace hone::system
