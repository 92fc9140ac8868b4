// See trace.hpp.
#include "trace/trace.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace hone::trace {
namespace {

bool in_range(Time time) { return time >= -kLatestTime && time <= kLatestTime; }

template <class Event>
bool has_time(const Event& event) {
  if constexpr (requires { event.time; }) {
    return in_range(event.time);
  } else {
    return event.end >= event.start && !(event.start == 0 && event.end == 0) && in_range(event.start) &&
           in_range(event.end);
  }
}

template <class Event>
void drop_without_time(Trace& trace, std::vector<Event>& events, const char* about) {
  const size_t dropped = std::erase_if(events, [](const Event& event) { return !has_time(event); });
  if (dropped == 0) return;
  trace.doubt(Severity::kLoss, about, "had no valid time and were left out", static_cast<int64_t>(dropped));
}

bool valid_index(int32_t index, size_t size) { return index >= -1 && index < static_cast<int64_t>(size); }

/// A detail that is not there is none.
template <class Event>
int64_t mend_details(std::vector<Event>& events, const auto& size_of) {
  int64_t mended = 0;
  for (Event& event : events) {
    if (valid_index(event.detail, size_of(event))) continue;
    event.detail = -1;
    ++mended;
  }
  return mended;
}

int64_t mend_references(Trace& trace) {
  int64_t mended = mend_details(trace.host_events, [&](const HostEvent&) { return trace.operators.size(); });
  mended += mend_details(trace.device_events, [&](const DeviceEvent& event) {
    return event.kind == DeviceKind::kKernel ? trace.launches.size() : trace.transfers.size();
  });
  const auto thread_missing = [&](const auto& row) {
    return row.thread < 0 || row.thread >= static_cast<int64_t>(trace.threads.size());
  };
  mended += static_cast<int64_t>(std::erase_if(trace.host_events, thread_missing));
  mended += static_cast<int64_t>(std::erase_if(trace.thread_syncs, thread_missing));
  mended += static_cast<int64_t>(std::erase_if(trace.thread_usages, thread_missing));
  for (Allocation& allocation : trace.allocations) {
    if (!thread_missing(allocation) || allocation.thread == -1) continue;
    allocation.thread = -1;
    ++mended;
  }
  return mended;
}

}  // namespace

int32_t Trace::thread_index(int64_t process, int64_t id) {
  for (size_t i = threads.size(); i-- > 0;) {
    if (threads[i].process == process && threads[i].id == id) return static_cast<int32_t>(i);
  }
  threads.push_back({process, id, 0});
  return static_cast<int32_t>(threads.size() - 1);
}

void Trace::doubt(Severity severity, const std::string& about, const std::string& text, int64_t count) {
  for (Doubt& row : doubts) {
    if (row.severity != severity || row.about != about || row.text != text) continue;
    row.count += count;
    return;
  }
  doubts.push_back({severity, about, text, count});
}

const DeviceProperties* Trace::find_device(int32_t id) const {
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [id](const DeviceProperties& device) { return device.id == id; });
  return found == devices.end() ? nullptr : &*found;
}

Span extent(const Trace& trace) {
  Span span{std::numeric_limits<Time>::max(), std::numeric_limits<Time>::min()};
  const auto include = [&span](const auto& events) {
    for (const auto& event : events) {
      span.start = std::min(span.start, event.start);
      span.end = std::max(span.end, event.end);
    }
  };
  include(trace.host_events);
  include(trace.device_events);
  include(trace.thread_syncs);
  return span.end < span.start ? Span{} : span;
}

void normalize(Trace& trace) {
  drop_without_time(trace, trace.host_events, "host events");
  drop_without_time(trace, trace.device_events, "device events");
  drop_without_time(trace, trace.synchronizations, "synchronizations");
  drop_without_time(trace, trace.thread_syncs, "thread synchronizations");
  drop_without_time(trace, trace.allocations, "allocations");
  drop_without_time(trace, trace.counter_samples, "counter samples");
  if (const size_t endless = std::erase_if(trace.kernel_metrics,
                                           [](const KernelMetric& row) { return !std::isfinite(row.value); });
      endless != 0)
    trace.doubt(Severity::kLoss, "metrics", "values were no numbers and were left out",
                static_cast<int64_t>(endless));
  if (const int64_t mended = mend_references(trace); mended != 0)
    trace.doubt(Severity::kDoubt, "file", "rows referred to something that is not in the trace", mended);

  std::stable_sort(trace.host_events.begin(), trace.host_events.end(),
                   [](const HostEvent& a, const HostEvent& b) {
                     return std::tie(a.thread, a.start, b.end) < std::tie(b.thread, b.start, a.end);
                   });
  const auto by_start = [](const auto& a, const auto& b) { return a.start < b.start; };
  const auto by_time = [](const auto& a, const auto& b) { return a.time < b.time; };
  std::stable_sort(trace.device_events.begin(), trace.device_events.end(), by_start);
  std::stable_sort(trace.synchronizations.begin(), trace.synchronizations.end(), by_start);
  std::stable_sort(trace.thread_syncs.begin(), trace.thread_syncs.end(), by_start);
  std::stable_sort(trace.allocations.begin(), trace.allocations.end(), by_time);
  std::stable_sort(trace.counter_samples.begin(), trace.counter_samples.end(), by_time);
}

}  // namespace hone::trace
