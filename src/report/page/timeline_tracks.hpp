// Assigns the events of a trace to the tracks that show them.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/trace.hpp"

namespace hone::report {

/// An event on a track. Times are those of the trace.
struct TrackEvent {
  trace::Span span;
  trace::StringId name = 0;  ///< 0 if it represents events with different names
  int32_t host = -1;         ///< index into Trace::host_events
  int32_t device = -1;       ///< index into Trace::device_events
  uint32_t row = 0;
  uint32_t merged = 1;  ///< number of events that it represents
};

/// An event in its row: an index into the trace's device_events for streams, or into host_events for other
/// tracks.
struct PlacedEvent {
  int32_t index = 0;
  uint32_t row = 0;
};

struct Track {
  std::string group;
  std::string name;
  std::string kind;
  std::vector<PlacedEvent> events = {};  ///< by start
  std::vector<trace::Time> reach = {};   ///< the latest end of all events up to each one
  uint32_t rows = 1;

  bool of_device() const { return kind == "stream"; }
};

/// All tracks of a trace: first streams, sorted by device, then threads, with the ranges of each before its
/// calls. Every event has a row in which no other event runs at the same time. For threads it is the first
/// row below all running events, as in a call stack; for streams it is the first free row. Refers to the
/// trace.
class TimelineTracks {
 public:
  explicit TimelineTracks(const trace::Trace& trace);

  const std::vector<Track>& tracks() const { return tracks_; }
  /// Index of the track that shows an event; -1 if none does.
  int64_t of_host(const trace::HostEvent& event) const;
  int64_t of_device(const trace::DeviceEvent& event) const;
  /// Upper bound for the number of events of the track in the window.
  size_t count(const Track& track, trace::Span window) const;
  /// The track's events in the window, by start. Adjacent events of a row are merged if they are shorter than
  /// `resolution` and closer than that. If it is 0, none are merged.
  std::vector<TrackEvent> events(const Track& track, trace::Span window, trace::Time resolution) const;

 private:
  void name_tracks();
  void place_events();
  trace::Span span_of(const Track& track, int32_t index) const;
  TrackEvent event_of(const Track& track, const PlacedEvent& event) const;
  /// A range of indices into Track::events.
  std::pair<size_t, size_t> range(const Track& track, trace::Span window) const;

  const trace::Trace& trace_;
  /// keys: device, context, stream
  std::map<std::tuple<int32_t, int64_t, int64_t>, int64_t> streams_;
  /// keys: thread, part of it
  std::map<std::pair<int32_t, int>, int64_t> threads_;
  std::vector<Track> tracks_;
};

}  // namespace hone::report
