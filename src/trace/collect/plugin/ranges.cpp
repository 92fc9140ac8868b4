// See ranges.hpp.
#include "trace/collect/plugin/ranges.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <mutex>
#include <unordered_map>
#include <vector>

#include "trace/collect/plugin/capture.hpp"
#include "trace/collect/plugin/clock.hpp"
#include "trace/collect/plugin/raw_writer.hpp"

namespace hone::trace::inject {
namespace {

struct Open {
  uint32_t domain;
  uint32_t name;
  uint64_t start;
};

struct Started {
  uint32_t name;
  uint32_t thread;
  uint64_t start;
};

struct Shared {
  std::mutex mutex;
  Batch closed;
  std::unordered_map<uint64_t, Started> started;
  uint64_t next_id = 1;
  uint64_t oldest = 0;  ///< end of the oldest closed range in the batch
};

/// Never destroyed: threads may close ranges while the process exits.
Shared& shared() {
  static auto* instance = new Shared;
  return *instance;
}

thread_local std::vector<Open> open_ranges;

uint32_t this_thread() {
  thread_local const auto id = static_cast<uint32_t>(syscall(SYS_gettid));
  return id;
}

/// Closed ranges are appended in batches of some thousand, and before they get old: the process may be killed
/// at any time.
void record(uint32_t name, uint32_t thread, uint64_t start, bool nested) {
  if (is_abandoned()) return;
  Shared& s = shared();
  raw::Range range;
  range.name = name;
  range.start = start;
  range.end = clock_now();
  if (!is_captured(range.start, range.end)) return;
  range.thread = thread;
  range.nested = nested ? 1 : 0;
  constexpr size_t kFlushBytes = size_t{1} << 16;
  constexpr uint64_t kFlushNanoseconds = 10'000'000;
  const std::lock_guard lock(s.mutex);
  if (s.closed.bytes().empty()) s.oldest = range.end;
  s.closed.add(range);
  if (s.closed.bytes().size() < kFlushBytes && range.end < s.oldest + kFlushNanoseconds) return;
  append(s.closed);
  s.closed = Batch();
}

}  // namespace

int push_range(uint32_t domain, uint32_t name) {
  if (is_capture_range(name)) open_window();
  open_ranges.push_back({domain, name, clock_now()});
  return static_cast<int>(open_ranges.size()) - 1;
}

int pop_range(uint32_t domain) {
  for (size_t i = open_ranges.size(); i-- > 0;) {
    if (open_ranges[i].domain != domain) continue;
    const Open closed = open_ranges[i];
    record(closed.name, this_thread(), closed.start, true);
    if (is_capture_range(closed.name)) close_window();
    open_ranges.erase(open_ranges.begin() + static_cast<std::ptrdiff_t>(i));
    return static_cast<int>(open_ranges.size());
  }
  return -1;
}

uint64_t start_range(uint32_t name) {
  if (is_abandoned()) return 0;
  if (is_capture_range(name)) open_window();
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  s.started[s.next_id] = {name, this_thread(), clock_now()};
  return s.next_id++;
}

void end_range(uint64_t id) {
  if (is_abandoned()) return;
  Shared& s = shared();
  Started range{};
  {
    const std::lock_guard lock(s.mutex);
    const auto found = s.started.find(id);
    if (found == s.started.end()) return;
    range = found->second;
    s.started.erase(found);
  }
  record(range.name, range.thread, range.start, false);
  if (is_capture_range(range.name)) close_window();
}

uint32_t innermost_range() { return open_ranges.empty() ? 0 : open_ranges.back().name; }

void flush_ranges() {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  append(s.closed);
  s.closed = Batch();
}

}  // namespace hone::trace::inject
