// See thread_counters.hpp.
#include "system/thread_counters.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>

#include "base/clock.hpp"

namespace hone::system {
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

/// Returns -1 if the kernel or the machine refuses; errno gives the reason.
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

/// The clock of another thread's CPU time in this process (see clock_getcpuclockid(3), for threads).
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
  // All threads can have the counters that the first thread can have.
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

CounterReading ThreadCounters::read() const {
  CounterReading reading{std::vector<uint64_t>(threads_.size() * names_.size(), 0),
                         std::vector<int64_t>(threads_.size())};
  for (size_t i = 0; i < threads_.size(); ++i) {
    read_thread(i, reading.values.data() + i * names_.size());
    reading.times[i] = base::monotonic_ns();
  }
  return reading;
}

void ThreadCounters::read_thread(size_t place, uint64_t* to) const {
  if (groups_.empty()) {
    *to = cpu_time(threads_[place]);
    return;
  }
  if (groups_[place].files.size() != names_.size()) return;
  std::array<uint64_t, 1 + kEvents.size()> group{};  // their number, then each value
  if (::read(groups_[place].files[0], group.data(), sizeof group) > 0)
    std::copy_n(group.begin() + 1, names_.size(), to);
}

std::vector<int64_t> used_in(const CountedRange& range, size_t thread) {
  const size_t columns = range.at_start.values.size() / range.at_start.times.size();
  const auto time_between = [thread](const CounterReading& a, const CounterReading& b) {
    return static_cast<double>(b.times[thread] - a.times[thread]);
  };
  const auto before = static_cast<double>(range.start_ns - range.at_start.times[thread]);
  const auto after = static_cast<double>(range.at_end.times[thread] - range.end_ns);
  std::vector<int64_t> used;
  for (size_t i = thread * columns; i < (thread + 1) * columns; ++i) {
    // The counters of a thread that has ended become 0.
    const auto between = [i](const CounterReading& a, const CounterReading& b) {
      return b.values[i] > a.values[i] ? static_cast<double>(b.values[i] - a.values[i]) : 0;
    };
    const auto rate = [&](const CounterReading& a, const CounterReading& b) {
      return between(a, b) / std::max(time_between(a, b), 1.0);
    };
    const double beside =
        before * rate(range.beyond_start, range.at_start) + after * rate(range.at_end, range.beyond_end);
    used.push_back(std::llround(std::max(between(range.at_start, range.at_end) - beside, 0.0)));
  }
  used.front() = std::min(used.front(), range.end_ns - range.start_ns);
  return used;
}

}  // namespace hone::system
