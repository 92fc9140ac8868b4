// See timeline_tracks.hpp.
#include "report/page/timeline_tracks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace hone::report {
namespace {

using trace::DeviceEvent;
using trace::HostEvent;
using trace::HostKind;
using trace::Span;
using trace::Time;

/// The tracks of a thread's events, in their order.
enum Part { kRanges, kApi, kSync, kOverhead };

Part part_of(HostKind kind) {
  switch (kind) {
    case HostKind::kRuntimeApi:
    case HostKind::kDriverApi:
    case HostKind::kHostFunction: return kApi;
    case HostKind::kThreadApi: return kSync;
    case HostKind::kOverhead: return kOverhead;
    default: return kRanges;
  }
}

struct PartName {
  std::string_view kind;
  std::string_view suffix;
};
constexpr std::array<PartName, 4> kParts = {
    {{"ranges", ""}, {"api", " · CUDA API"}, {"sync", " · waits"}, {"overhead", " · profiler"}}};

std::string thread_name(const trace::Trace& trace, const trace::Thread& thread) {
  const std::string& name = trace.text(thread.name);
  return name.empty() ? fmt::format("thread {}", thread.id) : fmt::format("{} ({})", name, thread.id);
}

std::string device_group(const trace::Trace& trace, int32_t device) {
  const trace::DeviceProperties* properties = trace.find_device(device);
  const std::string name = properties == nullptr ? "" : trace.text(properties->name);
  return name.empty() ? fmt::format("GPU {}", device) : fmt::format("GPU {} · {}", device, name);
}

/// The rows of a track that are occupied, and until when.
class Rows {
 public:
  explicit Rows(bool nested) : nested_(nested) {}

  uint32_t place(Span span) {
    const auto is_free = [&](Time end) { return end <= span.start; };
    const size_t row =
        nested_ ? static_cast<size_t>(ends_.rend() - std::find_if_not(ends_.rbegin(), ends_.rend(), is_free))
                : static_cast<size_t>(std::find_if(ends_.begin(), ends_.end(), is_free) - ends_.begin());
    if (row == ends_.size()) ends_.push_back(0);
    ends_[row] = span.end;
    return static_cast<uint32_t>(row);
  }
  uint32_t count() const { return static_cast<uint32_t>(std::max<size_t>(ends_.size(), 1)); }

 private:
  bool nested_;
  std::vector<Time> ends_;  // end of the last event in each row
};

}  // namespace

TimelineTracks::TimelineTracks(const trace::Trace& trace) : trace_(trace) {
  for (const DeviceEvent& event : trace.device_events)
    streams_.try_emplace({event.device, event.context, event.stream}, 0);
  for (const HostEvent& event : trace.host_events)
    threads_.try_emplace({event.thread, part_of(event.kind)}, 0);
  int64_t next = 0;
  for (auto& [key, index] : streams_) index = next++;
  for (auto& [key, index] : threads_) index = next++;
  name_tracks();
  place_events();
}

int64_t TimelineTracks::of_host(const HostEvent& event) const {
  const auto found = threads_.find({event.thread, part_of(event.kind)});
  return found == threads_.end() ? -1 : found->second;
}

int64_t TimelineTracks::of_device(const DeviceEvent& event) const {
  const auto found = streams_.find({event.device, event.context, event.stream});
  return found == streams_.end() ? -1 : found->second;
}

void TimelineTracks::name_tracks() {
  for (const auto& [key, index] : streams_) {
    const auto& [device, context, stream] = key;
    // C++20 allows lambdas to capture these directly, but clang 14 does not.
    const bool several =
        std::any_of(streams_.begin(), streams_.end(), [d = device, c = context](const auto& other) {
          return std::get<0>(other.first) == d && std::get<1>(other.first) != c;
        });
    tracks_.push_back(
        {device_group(trace_, device),
         several ? fmt::format("context {} · stream {}", context, stream) : fmt::format("stream {}", stream),
         "stream"});
  }
  for (const auto& [key, index] : threads_) {
    const trace::Thread& thread = trace_.threads[static_cast<size_t>(key.first)];
    const PartName& part = kParts.at(static_cast<size_t>(key.second));
    tracks_.push_back({fmt::format("process {}", thread.process),
                       thread_name(trace_, thread) + std::string(part.suffix), std::string(part.kind)});
  }
}

void TimelineTracks::place_events() {
  // Host events are sorted by thread, start and length, with all kinds of a track together; device events are
  // sorted by start.
  for (size_t i = 0; i < trace_.device_events.size(); ++i)
    tracks_[static_cast<size_t>(of_device(trace_.device_events[i]))].events.push_back(
        {static_cast<int32_t>(i)});
  for (size_t i = 0; i < trace_.host_events.size(); ++i)
    tracks_[static_cast<size_t>(of_host(trace_.host_events[i]))].events.push_back({static_cast<int32_t>(i)});
  for (Track& track : tracks_) {
    Rows rows(!track.of_device());
    Time reach = std::numeric_limits<Time>::min();
    track.reach.reserve(track.events.size());
    for (PlacedEvent& event : track.events) {
      const Span span = span_of(track, event.index);
      event.row = rows.place(span);
      reach = std::max(reach, span.end);
      track.reach.push_back(reach);
    }
    track.rows = rows.count();
  }
}

Span TimelineTracks::span_of(const Track& track, int32_t index) const {
  const auto i = static_cast<size_t>(index);
  if (track.of_device()) return {trace_.device_events[i].start, trace_.device_events[i].end};
  return {trace_.host_events[i].start, trace_.host_events[i].end};
}

TrackEvent TimelineTracks::event_of(const Track& track, const PlacedEvent& event) const {
  const auto i = static_cast<size_t>(event.index);
  const Span span = span_of(track, event.index);
  if (track.of_device()) return {span, trace_.device_events[i].name, -1, event.index, event.row};
  return {span, trace_.host_events[i].name, event.index, -1, event.row};
}

std::pair<size_t, size_t> TimelineTracks::range(const Track& track, Span window) const {
  const auto first = std::lower_bound(track.reach.begin(), track.reach.end(), window.start);
  const auto begin = track.events.begin() + (first - track.reach.begin());
  const auto end = std::partition_point(begin, track.events.end(), [&](const PlacedEvent& event) {
    return span_of(track, event.index).start < window.end;
  });
  return {static_cast<size_t>(begin - track.events.begin()), static_cast<size_t>(end - track.events.begin())};
}

size_t TimelineTracks::count(const Track& track, Span window) const {
  const auto [begin, end] = range(track, window);
  return end - begin;
}

std::vector<TrackEvent> TimelineTracks::events(const Track& track, Span window, Time resolution) const {
  std::vector<TrackEvent> kept;
  std::vector<int64_t> open(track.rows,
                            -1);  // for each row, the index in `kept` of the short event that may be extended
  const auto [begin, end] = range(track, window);
  for (size_t i = begin; i < end; ++i) {
    const PlacedEvent& placed = track.events[i];
    const Span span = span_of(track, placed.index);
    if (span.end < window.start) continue;
    const TrackEvent event = event_of(track, placed);
    int64_t& last = open[placed.row];
    const bool is_short = span.end - span.start < resolution;
    if (is_short && last >= 0 && span.start - kept[static_cast<size_t>(last)].span.end < resolution) {
      TrackEvent& grown = kept[static_cast<size_t>(last)];
      grown.span.end = std::max(grown.span.end, span.end);
      ++grown.merged;
      if (grown.name != event.name) grown.name = 0;
      continue;
    }
    last = is_short ? static_cast<int64_t>(kept.size()) : -1;
    kept.push_back(event);
  }
  return kept;
}

}  // namespace hone::report
