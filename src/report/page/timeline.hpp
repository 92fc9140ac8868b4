// The timeline of a trace as the page draws it: tracks of events in columns of numbers, small enough to embed
// and quick to decode. Where a window holds more events than anybody can see, those shorter than a pixel are
// merged, and counters thinned.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/questions/critical_path.hpp"
#include "base/json.hpp"
#include "report/page/timeline_tracks.hpp"
#include "trace/trace.hpp"

namespace hone::report {

/// One row of the timeline: a stream, a thread's ranges, its calls of an API, a counter.
struct TimelineTrack {
  int64_t id = 0;
  std::string group;  ///< "GPU 0 · NVIDIA H200", "process 42"
  std::string name;   ///< "stream 7", "thread 43"
  std::string kind;   ///< stream, ranges, api, sync, overhead, counter
  int64_t first = 0;  ///< of its events, or of its counter's samples
  int64_t count = 0;
  int64_t depth = 1;      ///< rows that nested or overlapping events need
  std::string unit = {};  ///< of a counter
};

/// A segment of the critical path. Times in ns from the origin.
struct TimelineSegment {
  int64_t track = 0;
  trace::Time start = 0;
  trace::Time end = 0;
  uint32_t name = 0;  ///< index into Timeline::strings
};

/// A column of the blob: little-endian, at a multiple of 8 bytes.
struct TimelineColumn {
  std::string name;
  std::string_view type;  ///< u8, u16, u32, i32, f64
  int64_t offset = 0;     ///< bytes
  int64_t count = 0;
};

/// Events lie by track and start. Differences, from one start to the next of its track, and durations have 48
/// bits, in two columns each.
struct Timeline {
  trace::Time origin = 0;    ///< absolute, ns
  trace::Time duration = 0;  ///< of the whole trace, ns
  trace::Time from = 0;      ///< of the window that events were taken from, ns from the origin
  trace::Time to = 0;
  /// Events shorter than this are merged with their neighbours, and of a counter's samples within it only the
  /// smallest and the largest are kept; 0: neither.
  trace::Time resolution = 0;
  std::vector<std::string> strings;
  std::vector<Json> details;  ///< of launches, copies and operators; many events share one
  std::vector<TimelineTrack> tracks;
  std::vector<TimelineSegment> path;  ///< the longest 20'000 in the window, by time
  std::vector<TimelineColumn> columns;
  std::string blob;

  bool complete() const { return resolution == 0; }
};

struct TimelineOptions {
  trace::Time from = 0;  ///< ns from the begin of the trace
  trace::Time to = std::numeric_limits<trace::Time>::max();
  int64_t pixels = 0;  ///< width of the window where it is drawn; 0 for whatever width
  /// A window with more events and samples is merged as if it had 8192 pixels.
  size_t most_events = 1'000'000;
};

/// Samples of one counter, by time.
struct CounterSeries {
  int32_t device = 0;
  trace::StringId counter = 0;
  std::vector<const trace::CounterSample*> samples;
};

/// A trace prepared once, so that a window of its timeline costs what it shows. Refers to the trace and the
/// path, which may be empty.
class TimelineSource {
 public:
  TimelineSource(const trace::Trace& trace, const analysis::CriticalPath& path);

  Timeline window(const TimelineOptions& options = {}) const;

 private:
  friend class TimelineWindow;

  const trace::Trace& trace_;
  const analysis::CriticalPath& path_;
  trace::Span extent_;
  TimelineTracks tracks_;
  std::vector<bool> on_path_;  // of device events
  std::vector<CounterSeries> counters_;
};

}  // namespace hone::report
