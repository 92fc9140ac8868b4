// See cut.hpp.
#include "trace/cut.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_set>

namespace hone::trace {
namespace {

class Windows {
 public:
  explicit Windows(const std::vector<Span>& windows) : windows_(windows) {}

  bool overlaps(Time start, Time end) const {
    // Only the first window that ends after the start can hold it.
    const auto found = std::upper_bound(windows_.begin(), windows_.end(), start,
                                        [](Time time, const Span& window) { return time < window.end; });
    return found != windows_.end() && (found->start < end || found->start == start);
  }

  /// The span from the first moment in a window to the last; the interval must overlap a window.
  Span clipped(Time start, Time end) const {
    const auto first = std::upper_bound(windows_.begin(), windows_.end(), start,
                                        [](Time time, const Span& window) { return time < window.end; });
    const auto after = std::lower_bound(first + 1, windows_.end(), end,
                                        [](const Span& window, Time time) { return window.start < time; });
    return {std::max(start, first->start), std::min(end, (after - 1)->end)};
  }

 private:
  const std::vector<Span>& windows_;
};

}  // namespace

void cut(Trace& trace, const std::vector<Span>& windows) {
  const Windows kept(windows);
  std::unordered_set<int64_t> calls;
  std::erase_if(trace.host_events, [&](const HostEvent& event) {
    if (!kept.overlaps(event.start, event.end)) return true;
    if (event.correlation != kNone) calls.insert(event.correlation);
    return false;
  });
  for (HostEvent& event : trace.host_events) {
    if (event.kind == HostKind::kRuntimeApi || event.kind == HostKind::kDriverApi) continue;
    const Span inside = kept.clipped(event.start, event.end);
    event.start = inside.start;
    event.end = inside.end;
  }
  const auto was_called = [&](int64_t correlation) {
    return correlation != kNone && calls.contains(correlation);
  };
  std::erase_if(trace.device_events, [&](const DeviceEvent& event) {
    return !was_called(event.correlation) && !kept.overlaps(event.start, event.end);
  });
  std::unordered_set<int64_t> records;
  std::erase_if(trace.synchronizations, [&](const Synchronization& sync) {
    if (!was_called(sync.correlation) && !kept.overlaps(sync.start, sync.end)) return true;
    if (sync.event_record != kNone) records.insert(sync.event_record);
    return false;
  });
  // The event of a wait in a window may have been recorded before the window.
  std::erase_if(trace.event_records, [&](const EventRecord& record) {
    return !was_called(record.correlation) && !records.contains(record.id);
  });
  std::erase_if(trace.thread_syncs,
                [&](const ThreadSync& sync) { return !kept.overlaps(sync.start, sync.end); });
  const auto outside = [&](const auto& row) { return !kept.overlaps(row.time, row.time); };
  std::erase_if(trace.allocations, outside);
  std::erase_if(trace.counter_samples, outside);
  std::erase_if(trace.thread_usages,
                [&](const ThreadUsage& usage) { return !kept.overlaps(usage.start, usage.end); });

  // Removes details of events that were removed.
  std::vector<OperatorDetail> operators;
  for (HostEvent& event : trace.host_events) {
    if (event.detail < 0) continue;
    const auto old = static_cast<size_t>(event.detail);
    event.detail = static_cast<int32_t>(operators.size());
    operators.push_back(trace.operators[old]);
  }
  trace.operators = std::move(operators);
  std::vector<KernelLaunch> launches;
  std::vector<Transfer> transfers;
  for (DeviceEvent& event : trace.device_events) {
    if (event.detail < 0) continue;
    const auto old = static_cast<size_t>(event.detail);
    if (event.kind == DeviceKind::kKernel) {
      event.detail = static_cast<int32_t>(launches.size());
      launches.push_back(trace.launches[old]);
    } else {
      event.detail = static_cast<int32_t>(transfers.size());
      transfers.push_back(trace.transfers[old]);
    }
  }
  trace.launches = std::move(launches);
  trace.transfers = std::move(transfers);
}

Trace clipped(const Trace& trace, Span window) {
  Trace result = trace;
  cut(result, {window});
  std::unordered_set<int64_t> kept;
  for (const HostEvent& event : result.host_events) kept.insert(event.correlation);
  std::unordered_set<int64_t> earlier;
  std::erase_if(result.device_events, [&](DeviceEvent& event) {
    if (event.start >= window.end) return true;
    if (event.correlation != kNone && !kept.contains(event.correlation)) earlier.insert(event.correlation);
    event.start = std::max(event.start, window.start);
    event.end = std::min(event.end, window.end);
    return false;
  });
  for (HostEvent& event : result.host_events) {
    event.start = std::max(event.start, window.start);
    event.end = std::min(event.end, window.end);
  }
  for (Synchronization& sync : result.synchronizations) {
    sync.start = std::clamp(sync.start, window.start, window.end);
    sync.end = std::clamp(sync.end, window.start, window.end);
  }
  for (const HostEvent& event : trace.host_events) {
    if (event.end > window.start || !earlier.contains(event.correlation)) continue;
    result.host_events.push_back(event);
    result.host_events.back().start = window.start;
    result.host_events.back().end = window.start;
    result.host_events.back().detail = -1;
  }
  normalize(result);
  // These moments came before what reaches into the window.
  const auto place = [&](const HostEvent& event) {
    return std::tuple(event.thread, event.start, event.start != window.start || event.end != window.start);
  };
  std::stable_sort(result.host_events.begin(), result.host_events.end(),
                   [&](const HostEvent& a, const HostEvent& b) { return place(a) < place(b); });
  return result;
}

}  // namespace hone::trace
