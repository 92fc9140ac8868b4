// See timeline_tracks.hpp.
#include "report/timeline_tracks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hone::report {
namespace {

using trace::DeviceEvent;
using trace::HostEvent;
using trace::HostKind;
using trace::Span;
using trace::Time;

/// What a thread's events are told apart by, in the order in which its tracks stand.
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

bool touches(Time start, Time end, Span window) { return start < window.end && end >= window.start; }

}  // namespace

TrackIndex::TrackIndex(const trace::Trace& trace) : trace_(trace) {
  for (const DeviceEvent& event : trace.device_events)
    streams_.try_emplace({event.device, event.context, event.stream}, 0);
  for (const HostEvent& event : trace.host_events)
    threads_.try_emplace({event.thread, part_of(event.kind)}, 0);
  int64_t next = 0;
  for (auto& [key, index] : streams_) index = next++;
  for (auto& [key, index] : threads_) index = next++;
}

int64_t TrackIndex::of_host(const HostEvent& event) const {
  const auto found = threads_.find({event.thread, part_of(event.kind)});
  return found == threads_.end() ? -1 : found->second;
}

int64_t TrackIndex::of_device(const DeviceEvent& event) const {
  const auto found = streams_.find({event.device, event.context, event.stream});
  return found == streams_.end() ? -1 : found->second;
}

std::vector<Track> TrackIndex::empty_tracks() const {
  std::vector<Track> tracks;
  for (const auto& [key, index] : streams_) {
    const auto& [device, context, stream] = key;
    // C++20 lets lambdas capture these, but not clang 14.
    const bool several =
        std::any_of(streams_.begin(), streams_.end(), [d = device, c = context](const auto& other) {
          return std::get<0>(other.first) == d && std::get<1>(other.first) != c;
        });
    tracks.push_back(
        {device_group(trace_, device),
         several ? fmt::format("context {} · stream {}", context, stream) : fmt::format("stream {}", stream),
         "stream",
         {}});
  }
  for (const auto& [key, index] : threads_) {
    const trace::Thread& thread = trace_.threads[static_cast<size_t>(key.first)];
    const PartName& part = kParts.at(static_cast<size_t>(key.second));
    tracks.push_back({fmt::format("process {}", thread.process),
                      thread_name(trace_, thread) + std::string(part.suffix),
                      std::string(part.kind),
                      {}});
  }
  return tracks;
}

std::vector<Track> tracks_of(const trace::Trace& trace, Span window) {
  const TrackIndex index(trace);
  std::vector<Track> tracks = index.empty_tracks();
  for (size_t i = 0; i < trace.device_events.size(); ++i) {
    const DeviceEvent& event = trace.device_events[i];
    if (!touches(event.start, event.end, window)) continue;
    tracks[static_cast<size_t>(index.of_device(event))].events.push_back(
        {{event.start, event.end}, event.name, -1, static_cast<int32_t>(i)});
  }
  for (size_t i = 0; i < trace.host_events.size(); ++i) {
    const HostEvent& event = trace.host_events[i];
    if (!touches(event.start, event.end, window)) continue;
    tracks[static_cast<size_t>(index.of_host(event))].events.push_back(
        {{event.start, event.end}, event.name, static_cast<int32_t>(i), -1});
  }
  // Host events come by thread, start and length, of all kinds of a track together; device events by start.
  return tracks;
}

uint32_t assign_rows(std::vector<TrackEvent>& events, bool nested) {
  std::vector<Time> ends;  // of the last event in each row
  for (TrackEvent& event : events) {
    const auto is_free = [&](Time end) { return end <= event.span.start; };
    const auto busy = std::find_if_not(ends.rbegin(), ends.rend(), is_free);
    const size_t row =
        nested ? static_cast<size_t>(ends.rend() - busy)
               : static_cast<size_t>(std::find_if(ends.begin(), ends.end(), is_free) - ends.begin());
    if (row == ends.size()) ends.push_back(0);
    ends[row] = event.span.end;
    event.depth = static_cast<uint32_t>(row);
  }
  return static_cast<uint32_t>(std::max<size_t>(ends.size(), 1));
}

void merge_short(std::vector<TrackEvent>& events, Time resolution) {
  std::vector<TrackEvent> kept;
  std::vector<int64_t> open;  // index into kept of the short event that may grow, in each row
  for (const TrackEvent& event : events) {
    if (open.size() <= event.depth) open.resize(event.depth + 1, -1);
    int64_t& last = open[event.depth];
    const bool is_short = event.span.end - event.span.start < resolution;
    if (is_short && last >= 0 && event.span.start - kept[static_cast<size_t>(last)].span.end < resolution) {
      TrackEvent& grown = kept[static_cast<size_t>(last)];
      grown.span.end = std::max(grown.span.end, event.span.end);
      grown.merged += event.merged;
      if (grown.name != event.name) grown.name = 0;
      continue;
    }
    last = is_short ? static_cast<int64_t>(kept.size()) : -1;
    kept.push_back(event);
  }
  events = std::move(kept);
}

}  // namespace hone::report
