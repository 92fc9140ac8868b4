// The timeline of a trace as the page draws it: tracks of events in columns of numbers, which are small
// enough to embed and fast to decode. If a window contains too many events to see, events shorter than a
// pixel are merged, and counters are thinned.
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

/// One row of the timeline: a stream, the ranges of a thread, its API calls, or a counter.
struct TimelineTrack {
  int64_t id = 0;
  std::string group;  ///< "GPU 0 · NVIDIA H200", "process 42"
  std::string name;   ///< "stream 7", "thread 43"
  std::string kind;   ///< stream, ranges, api, sync, overhead, counter
  int64_t first = 0;  ///< index of its first event, or of its counter's first sample
  int64_t count = 0;
  int64_t depth = 1;      ///< number of rows for nested or overlapping events
  std::string unit = {};  ///< unit of a counter
};

/// A segment of the critical path. Times in ns from the origin.
struct TimelineSegment {
  int64_t track = 0;
  trace::Time start = 0;
  trace::Time end = 0;
  uint32_t name = 0;  ///< index into Timeline::strings
};

/// A column of the binary data: little-endian, at a multiple of 8 bytes.
struct TimelineColumn {
  std::string name;
  std::string_view type;  ///< u8, u16, u32, i32, f64
  int64_t offset = 0;     ///< bytes
  int64_t count = 0;
};

/// Events are sorted by track and start. Durations, and differences between consecutive starts of a track,
/// have 48 bits in two columns each.
struct Timeline {
  trace::Time origin = 0;    ///< absolute, ns
  trace::Time duration = 0;  ///< of the whole trace, ns
  trace::Time from = 0;      ///< begin of the window from which events were taken, ns from the origin
  trace::Time to = 0;
  /// Events shorter than this are merged with their neighbours, and within each such interval only the
  /// smallest and the largest sample of a counter are kept. 0: neither is done.
  trace::Time resolution = 0;
  std::vector<std::string> strings;
  std::vector<Json> details;  ///< of launches, copies and operators; many events share one
  std::vector<TimelineTrack> tracks;
  std::vector<TimelineSegment> path;  ///< the longest 20'000 in the window, in order of time
  std::vector<TimelineColumn> columns;
  std::string blob;

  bool complete() const { return resolution == 0; }
};

struct TimelineOptions {
  trace::Time from = 0;  ///< ns from the begin of the trace
  trace::Time to = std::numeric_limits<trace::Time>::max();
  int64_t pixels = 0;  ///< width of the drawn window; 0: unknown
  /// A window with more events and samples is merged as if it were 8192 pixels wide.
  size_t most_events = 1'000'000;
};

/// Samples of one counter, in order of time.
struct CounterSeries {
  int32_t device = 0;
  trace::StringId counter = 0;
  std::vector<const trace::CounterSample*> samples;
};

/// A trace that is prepared once, so that the cost of a window depends only on its content. Refers to the
/// trace and to the path, which may be empty.
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
  std::vector<bool> on_path_;  // for each device event
  std::vector<CounterSeries> counters_;
};

}  // namespace hone::report
