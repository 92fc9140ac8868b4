// See memory_timeline.hpp.
#include "analysis/questions/memory_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "analysis/joins.hpp"
#include "analysis/schema/memory_timeline.hpp"

namespace hone::analysis {
namespace {

using trace::Allocation;
using trace::HostEvent;
using trace::Trace;

constexpr double kCurvePoints = 512;

/// For every allocation, the innermost operator around it on its thread, as an index into host_events; -1
/// none.
HostIndices operators_of(const Trace& trace) {
  HostIndices result(trace.allocations.size(), -1);
  std::vector<std::vector<size_t>> by_thread(trace.threads.size());
  for (size_t i = 0; i < trace.allocations.size(); ++i) {
    if (trace.allocations[i].thread >= 0)
      by_thread[static_cast<size_t>(trace.allocations[i].thread)].push_back(i);
  }
  std::vector<size_t> done(trace.threads.size(), 0);
  HostIndices open;
  size_t thread = 0;
  const auto resolve_until = [&](Time time) {
    for (; done[thread] < by_thread[thread].size(); ++done[thread]) {
      const size_t index = by_thread[thread][done[thread]];
      const Time at = trace.allocations[index].time;
      if (at >= time) return;
      while (!open.empty() && trace.host_events[static_cast<size_t>(open.back())].end <= at) open.pop_back();
      if (!open.empty()) result[index] = open.back();
    }
  };
  for (size_t i = 0; i < trace.host_events.size(); ++i) {
    const HostEvent& event = trace.host_events[i];
    if (!is_operator(event)) continue;
    if (static_cast<size_t>(event.thread) != thread && !open.empty()) {
      resolve_until(std::numeric_limits<Time>::max());
      open.clear();
    }
    thread = static_cast<size_t>(event.thread);
    resolve_until(event.start);
    while (!open.empty() && trace.host_events[static_cast<size_t>(open.back())].end <= event.start)
      open.pop_back();
    open.push_back(static_cast<int32_t>(i));
  }
  if (!open.empty()) resolve_until(std::numeric_limits<Time>::max());
  return result;
}

/// Names the operators that made allocations.
class Makers {
 public:
  explicit Makers(const Trace& trace)
      : trace_(trace), operators_(operators_of(trace)), around_(enclosing_events(trace, is_operator)) {}

  /// aten::empty allocates on behalf of its caller, so the caller is named too.
  std::string name_of(size_t allocation) const {
    const int32_t maker = operators_[allocation];
    const std::string& source = trace_.text(trace_.allocations[allocation].source);
    if (maker < 0) return source.empty() ? "unknown" : source;
    const std::string& name = name_at(maker);
    const int32_t outer = around_[static_cast<size_t>(maker)];
    if (!name.starts_with("aten::empty") || outer < 0) return name;
    return fmt::format("{} ({})", name_at(outer), name);
  }

 private:
  const std::string& name_at(int32_t event) const {
    return trace_.text(trace_.host_events[static_cast<size_t>(event)].name);
  }

  const Trace& trace_;
  HostIndices operators_;
  HostIndices around_;
};

int64_t process_of(const Trace& trace, const Allocation& event) {
  return event.thread < 0 ? -1 : trace.threads[static_cast<size_t>(event.thread)].process;
}

/// The blocks that are alive while allocations are replayed. Addresses belong to a process.
class Live {
 public:
  explicit Live(const Trace& trace) : trace_(trace) {}

  /// Returns false for the release of an unknown block.
  bool apply(size_t index) {
    const Allocation& event = trace_.allocations[index];
    if (event.address == 0) {
      bytes_ += event.bytes;
      return true;
    }
    const std::pair place(process_of(trace_, event), event.address);
    const auto entry = alive_.find(place);
    const bool known = entry != alive_.end();
    if (known) {
      // The block was released now, or earlier without a record, because the address is in use again.
      bytes_ -= trace_.allocations[entry->second].bytes;
      alive_.erase(entry);
    }
    if (event.bytes <= 0) return known;
    alive_.emplace(place, index);
    bytes_ += event.bytes;
    return true;
  }

  int64_t bytes() const { return bytes_; }
  const auto& alive() const { return alive_; }

 private:
  const Trace& trace_;
  struct Hash {
    size_t operator()(const std::pair<int64_t, int64_t>& place) const {
      return std::hash<int64_t>()(place.second ^ place.first << 48);
    }
  };
  std::unordered_map<std::pair<int64_t, int64_t>, size_t, Hash> alive_;  // process, address: the allocation
  int64_t bytes_ = 0;
};

/// Replays the allocations of one device.
class Follower {
 public:
  Follower(const Trace& trace, Span window, int32_t device) : trace_(trace), window_(window), live_(trace) {
    memory_.device = device;
  }

  void add(size_t index) {
    const Allocation& event = trace_.allocations[index];
    if (event.time >= window_.start) enter();
    events_.push_back(index);
    ++(event.bytes > 0 ? memory_.allocations : memory_.frees);
    memory_.addressed = memory_.addressed && event.address != 0;
    if (!live_.apply(index)) ++memory_.unknown_frees;
    lowest_ = std::min(lowest_, live_.bytes());
    if (event.total_allocated != trace::kNone) {
      memory_.by_allocator = true;
      int64_t& reported = reported_of_[process_of(trace_, event)];
      reported_ += event.total_allocated - reported;
      reported = event.total_allocated;
    }
    if (event.total_reserved != trace::kNone) reserved_ = event.total_reserved;
    if (event.time >= window_.start && event.time <= window_.end) look(event.time);
  }

  DeviceMemory finish(const Makers& makers) {
    enter();
    memory_.live_at_end = live_.bytes();
    if (memory_.addressed) collect_peak(makers);
    if (!memory_.addressed && !memory_.by_allocator) raise();
    return std::move(memory_);
  }

 private:
  /// Memory that was allocated before the window counts, even if no event in the window concerns it.
  void enter() {
    if (!std::exchange(entered_, true) && !events_.empty()) look(window_.start);
  }

  int64_t total() const { return memory_.by_allocator ? reported_ : live_.bytes(); }

  void look(Time time) {
    const double place = static_cast<double>(time - window_.start) / static_cast<double>(length(window_) + 1);
    const auto part = static_cast<int64_t>(place * kCurvePoints);
    std::vector<MemoryPoint>& curve = memory_.curve;
    if (curve.empty() || part != part_) {
      curve.push_back({time, total(), reserved_});
      part_ = part;
    } else if (total() > curve.back().allocated) {
      curve.back() = {time, total(), std::max(reserved_, curve.back().reserved)};
    }
    memory_.reserved_peak = std::max(memory_.reserved_peak, reserved_);
    if (peaked_ && total() <= memory_.peak) return;
    peaked_ = true;
    memory_.peak = total();
    memory_.peak_time = time;
    events_to_peak_ = events_.size();
  }

  /// Corrects the sums if frees of memory from before the recording made them negative.
  void raise() {
    memory_.live_at_end -= lowest_;
    memory_.peak -= lowest_;
    for (MemoryPoint& point : memory_.curve) point.allocated -= lowest_;
  }

  /// Replays the allocations again up to the peak, to find the blocks that were alive then.
  void collect_peak(const Makers& makers) {
    Live live(trace_);
    for (size_t i = 0; i < events_to_peak_; ++i) live.apply(events_[i]);
    std::map<std::string, MemoryOwner> owners;
    for (const auto& [place, index] : live.alive()) {
      MemoryOwner& owner = owners[makers.name_of(index)];
      owner.bytes += trace_.allocations[index].bytes;
      ++owner.allocations;
    }
    for (auto& [name, owner] : owners) {
      owner.name = name;
      memory_.at_peak.push_back(std::move(owner));
    }
    std::stable_sort(memory_.at_peak.begin(), memory_.at_peak.end(),
                     [](const MemoryOwner& a, const MemoryOwner& b) { return a.bytes > b.bytes; });
    memory_.older_at_peak = std::max<int64_t>(0, memory_.peak - live.bytes());
  }

  const Trace& trace_;
  Span window_;
  Live live_;
  DeviceMemory memory_;
  std::vector<size_t> events_;
  size_t events_to_peak_ = 0;
  int64_t lowest_ = 0;  // lowest value of the sums
  bool entered_ = false;
  bool peaked_ = false;
  int64_t reported_ = 0;
  std::map<int64_t, int64_t> reported_of_;  // by process
  int64_t reserved_ = trace::kNone;
  int64_t part_ = 0;
};

}  // namespace

MemoryTimeline follow_memory(const Trace& trace, Span window) {
  MemoryTimeline timeline{window, {}};
  if (trace.allocations.empty()) return timeline;
  std::map<int32_t, Follower> devices;
  for (size_t i = 0; i < trace.allocations.size(); ++i) {
    const int32_t device = trace.allocations[i].device;
    if (trace.allocations[i].bytes != 0)
      devices.try_emplace(device, trace, window, device).first->second.add(i);
  }
  const Makers makers(trace);
  for (auto& [id, follower] : devices) timeline.devices.push_back(follower.finish(makers));
  return timeline;
}

Json to_json(const MemoryTimeline& timeline) { return base::described_json(timeline); }

}  // namespace hone::analysis
