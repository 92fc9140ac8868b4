// Events of a trace by the track that shows them.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "trace/trace.hpp"

namespace hone::report {

/// An event on a track. Times as in the trace.
struct TrackEvent {
  trace::Span span;
  trace::StringId name = 0;  ///< 0 when it stands for events of several names
  int32_t host = -1;         ///< index into Trace::host_events
  int32_t device = -1;       ///< index into Trace::device_events
  uint32_t depth = 0;
  uint32_t merged = 1;  ///< events it stands for
};

struct Track {
  std::string group;
  std::string name;
  std::string kind;
  std::vector<TrackEvent> events;  ///< by start
};

/// Streams first, by device, then threads, each with its ranges before its calls.
std::vector<Track> tracks_of(const trace::Trace& trace, trace::Span window);

/// The track that shows a host or device event: an index into tracks_of, -1 when none does.
class TrackIndex {
 public:
  explicit TrackIndex(const trace::Trace& trace);
  int64_t of_host(const trace::HostEvent& event) const;
  int64_t of_device(const trace::DeviceEvent& event) const;
  std::vector<Track> empty_tracks() const;

 private:
  const trace::Trace& trace_;
  /// device, context, stream
  std::map<std::tuple<int32_t, int64_t, int64_t>, int64_t> streams_;
  /// thread, part of it
  std::map<std::pair<int32_t, int>, int64_t> threads_;
};

/// Gives every event a row in which nothing else goes on: nested ones the first below all that still go on,
/// as in a call stack; others the first that is free. Returns the number of rows.
uint32_t assign_rows(std::vector<TrackEvent>& events, bool nested);

/// Merges neighbours in a row that are shorter than `resolution` and lie closer than it; by start again.
void merge_short(std::vector<TrackEvent>& events, trace::Time resolution);

}  // namespace hone::report
