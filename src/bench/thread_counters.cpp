// See thread_counters.hpp.
#include "bench/thread_counters.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>

namespace hone::bench {
namespace {

struct Event {
  const char* name;
  uint32_t type;
  uint64_t config;
};

constexpr std::array<Event, 4> kEvents = {{
    {"CPU time", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cache misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
}};

/// -1 when the kernel or the machine refuses; errno says why.
int open_event(const Event& event, pid_t thread, int leader) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_GROUP;
  return static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, thread, -1, leader, PERF_FLAG_FD_CLOEXEC));
}

std::vector<pid_t> threads_now() {
  std::vector<pid_t> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    threads.push_back(static_cast<pid_t>(std::stol(entry.path().filename().string())));
  std::sort(threads.begin(), threads.end());
  return threads;
}

/// The clock of what another thread of this process has used (see clock_getcpuclockid(3), for threads).
uint64_t cpu_time(pid_t thread) {
  constexpr int kThreadClock = 4;
  constexpr int kScheduled = 2;
  const auto clock = static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3 | kThreadClock | kScheduled);
  timespec used{};
  if (::clock_gettime(clock, &used) != 0) return 0;
  constexpr uint64_t kBillion = 1'000'000'000;
  return static_cast<uint64_t>(used.tv_sec) * kBillion + static_cast<uint64_t>(used.tv_nsec);
}

}  // namespace

ThreadCounters::ThreadCounters() : threads_(threads_now()), names_({kEvents[0].name}) {
  // What the first thread can have, all can.
  const int probe = open_event(kEvents[0], 0, -1);
  if (probe < 0) {
    missing_ = fmt::format("the kernel does not let this process count: {}", std::strerror(errno));
    return;
  }
  std::vector<const Event*> events = {kEvents.data()};
  for (size_t i = 1; i < kEvents.size(); ++i) {
    const int file = open_event(kEvents[i], 0, -1);
    if (file < 0) {
      if (missing_.empty())
        missing_ = fmt::format("{} cannot be counted: {}", kEvents[i].name, std::strerror(errno));
      continue;
    }
    ::close(file);
    events.push_back(&kEvents[i]);
    names_.emplace_back(kEvents[i].name);
  }
  ::close(probe);
  for (const pid_t thread : threads_) {
    Group& group = groups_.emplace_back();
    for (const Event* event : events) {
      const int file = open_event(*event, thread, group.files.empty() ? -1 : group.files[0]);
      if (file < 0) break;
      group.files.push_back(file);
    }
  }
}

ThreadCounters::~ThreadCounters() {
  for (const Group& group : groups_) {
    for (const int file : group.files) ::close(file);
  }
}

std::vector<uint64_t> ThreadCounters::read() const {
  std::vector<uint64_t> values(threads_.size() * names_.size(), 0);
  for (size_t i = 0; i < threads_.size(); ++i) {
    uint64_t* const to = values.data() + i * names_.size();
    if (groups_.empty()) {
      *to = cpu_time(threads_[i]);
      continue;
    }
    if (groups_[i].files.size() != names_.size()) continue;
    std::array<uint64_t, 1 + kEvents.size()> group{};  // how many, then each
    if (::read(groups_[i].files[0], group.data(), sizeof group) > 0)
      std::copy_n(group.begin() + 1, names_.size(), to);
  }
  return values;
}

}  // namespace hone::bench
