// Events of a trace by the track that shows them.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/trace.hpp"

namespace hone::report {

/// An event on a track. Times as in the trace.
struct TrackEvent {
  trace::Span span;
  trace::StringId name = 0;  ///< 0 when it stands for events of several names
  int32_t host = -1;         ///< index into Trace::host_events
  int32_t device = -1;       ///< index into Trace::device_events
  uint32_t row = 0;
  uint32_t merged = 1;  ///< events it stands for
};

/// An event in its row: an index into the trace's device_events for streams, into host_events for others.
struct PlacedEvent {
  int32_t index = 0;
  uint32_t row = 0;
};

struct Track {
  std::string group;
  std::string name;
  std::string kind;
  std::vector<PlacedEvent> events = {};  ///< by start
  std::vector<trace::Time> reach = {};   ///< the latest end of the events up to each
  uint32_t rows = 1;

  bool of_device() const { return kind == "stream"; }
};

/// All tracks of a trace: streams first, by device, then threads, each with its ranges before its calls.
/// Every event has a row in which nothing else goes on: of threads the first below all that still go on, as
/// in a call stack; of streams the first that is free. Refers to the trace.
class TimelineTracks {
 public:
  explicit TimelineTracks(const trace::Trace& trace);

  const std::vector<Track>& tracks() const { return tracks_; }
  /// The track that shows an event: an index, -1 when none does.
  int64_t of_host(const trace::HostEvent& event) const;
  int64_t of_device(const trace::DeviceEvent& event) const;
  /// How many events of the track touch the window, at most.
  size_t count(const Track& track, trace::Span window) const;
  /// The track's events in the window, by start. Neighbours in a row that are shorter than `resolution` and
  /// lie closer than it are merged; none where it is 0.
  std::vector<TrackEvent> events(const Track& track, trace::Span window, trace::Time resolution) const;

 private:
  void name_tracks();
  void place_events();
  trace::Span span_of(const Track& track, int32_t index) const;
  TrackEvent event_of(const Track& track, const PlacedEvent& event) const;
  /// Indices into Track::events.
  std::pair<size_t, size_t> range(const Track& track, trace::Span window) const;

  const trace::Trace& trace_;
  /// device, context, stream
  std::map<std::tuple<int32_t, int64_t, int64_t>, int64_t> streams_;
  /// thread, part of it
  std::map<std::pair<int32_t, int>, int64_t> threads_;
  std::vector<Track> tracks_;
};

}  // namespace hone::report
