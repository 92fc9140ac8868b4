// See host_calls.hpp.
#include "analysis/graph/dependencies/host_calls.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "analysis/graph/dependencies/api_names.hpp"
#include "analysis/names.hpp"

namespace hone::analysis::dependencies {
namespace {

using trace::HostEvent;
using trace::HostKind;

bool is_api(HostKind kind) {
  return kind == HostKind::kRuntimeApi || kind == HostKind::kDriverApi || kind == HostKind::kThreadApi;
}

/// True if time outside of API calls is attributed to such ranges. Steps are excluded, because they would
/// cover all of it.
bool is_named_range(HostKind kind) {
  return kind == HostKind::kOperator || kind == HostKind::kRange || kind == HostKind::kEngineStep ||
         kind == HostKind::kPython;
}

int32_t size_of(const auto& rows) { return static_cast<int32_t>(rows.size()); }

/// Gives cudaStreamSynchronize and cudaStreamSynchronize_ptsz_v7000 the same name.
class CallNames {
 public:
  explicit CallNames(const trace::Trace& trace) : trace_(trace), known_(trace.strings.size(), kUnseen) {}

  StringId of(StringId recorded) {
    StringId& known = known_[recorded];
    if (known == kUnseen) known = first_.try_emplace(api_name(trace_.text(recorded)), recorded).first->second;
    return known;
  }

 private:
  static constexpr auto kUnseen = std::numeric_limits<StringId>::max();
  const trace::Trace& trace_;
  std::vector<StringId> known_;
  std::unordered_map<std::string_view, StringId> first_;
};

class ThreadReader {
 public:
  ThreadReader(EventGraph& graph, CallIndex& index, std::vector<uint8_t>& overhead_kind)
      : graph_(graph), index_(index), overhead_kind_(overhead_kind), names_(*graph.trace) {}

  void read(HostThread& thread, int32_t first, int32_t last) {
    thread.calls.begin = size_of(graph_.calls);
    thread.ranges.begin = size_of(graph_.range_starts);
    thread.overheads.begin = size_of(graph_.overheads);
    for (int32_t i = first; i < last; ++i) add(i, thread);
    close_ranges(std::numeric_limits<Time>::max(), thread.ranges.begin);
    thread.calls.end = size_of(graph_.calls);
    thread.ranges.end = size_of(graph_.range_starts);
    thread.overheads.end = size_of(graph_.overheads);
    open_.clear();
  }

 private:
  void add(int32_t i, const HostThread& thread) {
    const HostEvent& event = graph_.trace->host_events[static_cast<size_t>(i)];
    if (is_api(event.kind)) return add_call(event, i, thread.calls.begin);
    if (event.kind == HostKind::kOverhead) return add_overhead(event, thread.overheads.begin);
    if (!is_named_range(event.kind)) return;
    close_ranges(event.start, thread.ranges.begin);
    name_from(event.start, event.name, thread.ranges.begin);
    open_.push_back(i);
  }

  /// A call inside another call is part of it. A call that begins inside and ends after another one (only
  /// damaged traces contain this) is cut to begin at the end of the other.
  void add_call(const HostEvent& event, int32_t i, int32_t first) {
    const Time free = size_of(graph_.calls) > first ? graph_.calls.back().leave : event.start;
    const bool inside = event.start < free && event.end <= free;
    if (!inside)
      graph_.calls.push_back(
          {std::max(event.start, free), event.end, event.thread, i, names_.of(event.name)});
    if (event.correlation != trace::kNone) index_.add(event.correlation, size_of(graph_.calls) - 1);
  }

  void add_overhead(const HostEvent& event, int32_t first) {
    if (!is_profilers(event.name)) return;
    const Time free = size_of(graph_.overheads) > first ? graph_.overheads.back().end : event.start;
    if (event.end > free) graph_.overheads.push_back({std::max(event.start, free), event.end});
  }

  bool is_profilers(StringId name) {
    uint8_t& kind = overhead_kind_[name];
    if (kind == 0) kind = is_profiler_overhead(graph_.trace->text(name)) ? 1 : 2;
    return kind == 1;
  }

  /// Closes the ranges that end until `now`. Time after each belongs to the enclosing range.
  void close_ranges(Time now, int32_t first) {
    while (!open_.empty()) {
      const Time end = event_of(open_.back()).end;
      if (end > now) return;
      open_.pop_back();
      while (!open_.empty() && event_of(open_.back()).end <= end) open_.pop_back();
      name_from(end, open_.empty() ? 0 : event_of(open_.back()).name, first);
    }
  }

  void name_from(Time start, StringId name, int32_t first) {
    std::vector<RangeStart>& starts = graph_.range_starts;
    if (size_of(starts) > first && starts.back().start == start) {
      starts.back().name = name;
      return;
    }
    if (size_of(starts) > first && starts.back().name == name) return;
    starts.push_back({start, name});
  }

  const HostEvent& event_of(int32_t i) const { return graph_.trace->host_events[static_cast<size_t>(i)]; }

  EventGraph& graph_;
  CallIndex& index_;
  std::vector<uint8_t>& overhead_kind_;
  CallNames names_;
  std::vector<int32_t> open_;  ///< open ranges, innermost last
};

}  // namespace

void CallIndex::add(int64_t correlation, int32_t call) {
  // A driver call usually follows the runtime call that made it, and has the same correlation.
  if (!entries_.empty() && entries_.back() == std::pair{correlation, call}) return;
  entries_.emplace_back(correlation, call);
}

void CallIndex::finish() {
  if (entries_.empty()) return;
  if (!std::is_sorted(entries_.begin(), entries_.end())) std::sort(entries_.begin(), entries_.end());
  const auto first = static_cast<uint64_t>(entries_.front().first);
  const uint64_t extent = static_cast<uint64_t>(entries_.back().first) - first;
  if (extent > 8 * entries_.size() + 1024) return;
  table_.assign(extent + 1, -1);
  for (size_t i = entries_.size(); i-- > 0;)
    table_[static_cast<uint64_t>(entries_[i].first) - first] = entries_[i].second;
}

int32_t CallIndex::find(int64_t correlation) const {
  if (entries_.empty() || correlation == trace::kNone) return -1;
  if (correlation < entries_.front().first || correlation > entries_.back().first) return -1;
  if (!table_.empty())
    return table_[static_cast<uint64_t>(correlation) - static_cast<uint64_t>(entries_.front().first)];
  const auto found = std::lower_bound(entries_.begin(), entries_.end(),
                                      std::pair{correlation, std::numeric_limits<int32_t>::min()});
  return found != entries_.end() && found->first == correlation ? found->second : -1;
}

CallIndex add_host_events(EventGraph& graph) {
  const std::vector<HostEvent>& events = graph.trace->host_events;
  CallIndex index;
  std::vector<uint8_t> overhead_kind(graph.trace->strings.size(), 0);
  ThreadReader reader(graph, index, overhead_kind);
  graph.threads.assign(graph.trace->threads.size(), {});
  for (int32_t first = 0; first < size_of(events);) {
    const int32_t thread = events[static_cast<size_t>(first)].thread;
    int32_t last = first;
    while (last < size_of(events) && events[static_cast<size_t>(last)].thread == thread) ++last;
    reader.read(graph.threads[static_cast<size_t>(thread)], first, last);
    first = last;
  }
  index.finish();
  return index;
}

}  // namespace hone::analysis::dependencies
