// See timeline.hpp.
#include "report/page/timeline.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/intervals.hpp"
#include "analysis/names.hpp"
#include "report/page/timeline_columns.hpp"
#include "report/page/timeline_details.hpp"

namespace hone::report {
namespace {

using analysis::length;
using trace::Time;
using trace::Trace;

constexpr int64_t kWidestWindow = 8192;
constexpr size_t kMostSegments = 20'000;
constexpr uint8_t kOnPath = 1;
constexpr uint8_t kMerged = 2;

/// The names that the timeline uses, copied from the trace.
class Names {
 public:
  explicit Names(Timeline* timeline) : strings_(timeline->strings) { strings_.emplace_back(); }
  uint32_t id(const Trace& trace, trace::StringId name, bool is_api) {
    if (name == 0) return 0;
    const auto [found, is_new] = ids_.try_emplace(name, static_cast<uint32_t>(strings_.size()));
    if (is_new) strings_.emplace_back(is_api ? analysis::api_name(trace.text(name)) : trace.text(name));
    return found->second;
  }

 private:
  std::vector<std::string>& strings_;
  std::unordered_map<trace::StringId, uint32_t> ids_;
};

/// The track on which a segment of the path is drawn; -1: none.
int64_t track_of(const Trace& trace, const TimelineTracks& tracks, const analysis::PathSegment& segment) {
  if (segment.thread >= 0) {
    for (const trace::HostKind kind : {trace::HostKind::kRuntimeApi, trace::HostKind::kRange}) {
      const int64_t track = tracks.of_host({.kind = kind, .thread = segment.thread});
      if (track >= 0) return track;
    }
    return -1;
  }
  const auto event = static_cast<size_t>(segment.event);
  if (segment.event < 0 || event >= trace.device_events.size()) return -1;
  return tracks.of_device(trace.device_events[event]);
}

using Samples = std::vector<const trace::CounterSample*>;

/// The samples in the window, and the last one before it, whose value holds at its begin.
Samples samples_in(const Samples& all, trace::Span window) {
  auto begin = std::lower_bound(all.begin(), all.end(), window.start,
                                [](const auto* sample, Time time) { return sample->time < time; });
  const auto end = std::upper_bound(begin, all.end(), window.end,
                                    [](Time time, const auto* sample) { return time < sample->time; });
  if (begin != all.begin()) --begin;
  return {begin, end};
}

/// Keeps the smallest and the largest sample of each interval of length `resolution`, in order of time.
Samples thinned(const Samples& all, Time resolution) {
  const auto smaller = [](const auto* a, const auto* b) { return a->value < b->value; };
  Samples kept;
  for (auto begin = all.begin(); begin != all.end();) {
    const Time until = (*begin)->time + resolution;
    const auto end =
        std::find_if(begin, all.end(), [&](const auto* sample) { return sample->time >= until; });
    const auto [low, high] = std::minmax_element(begin, end, smaller);
    kept.push_back(*std::min(low, high));
    if (low != high) kept.push_back(*std::max(low, high));
    begin = end;
  }
  return kept;
}

}  // namespace

/// Builds one window of the timeline.
class TimelineWindow {
 public:
  TimelineWindow(const TimelineSource& source, const TimelineOptions& options)
      : source_(source), trace_(source.trace_), names_(&timeline_), details_(trace_) {
    const trace::Span extent = source.extent_;
    timeline_.origin = extent.start;
    timeline_.duration = extent.end - extent.start;
    timeline_.from = std::clamp<Time>(options.from, 0, timeline_.duration);
    timeline_.to = std::clamp<Time>(options.to, timeline_.from, timeline_.duration);
    window_ = {extent.start + timeline_.from, extent.start + timeline_.to};
    for (const CounterSeries& series : source_.counters_)
      samples_.push_back(samples_in(series.samples, window_));
    timeline_.resolution = resolution(options);
  }

  Timeline make() {
    for (const Track& track : source_.tracks_.tracks())
      events_.push_back(source_.tracks_.events(track, window_, timeline_.resolution));
    number_launches();
    add_events();
    add_counters();
    add_path();
    write_columns();
    timeline_.details = details_.take();
    return std::move(timeline_);
  }

 private:
  Time resolution(const TimelineOptions& options) const {
    size_t events = 0;
    size_t samples = 0;
    for (const Track& track : source_.tracks_.tracks()) events += source_.tracks_.count(track, window_);
    for (const Samples& one : samples_) samples += one.size();
    const int64_t pixels = options.pixels > 0                       ? options.pixels
                           : events + samples > options.most_events ? kWidestWindow
                                                                    : 0;
    const auto most = static_cast<size_t>(pixels);
    const bool dense = std::any_of(samples_.begin(), samples_.end(),
                                   [&](const Samples& one) { return one.size() > 2 * most; });
    if (pixels == 0 || (events <= most && !dense)) return 0;
    return std::max<Time>((timeline_.to - timeline_.from) / pixels, 1);
  }

  /// Numbers the launching calls by the index of their event, so that device events can refer to them.
  void number_launches() {
    int32_t next = 0;
    for (const std::vector<TrackEvent>& events : events_) {
      for (const TrackEvent& event : events) {
        if (event.host >= 0 && event.merged == 1) {
          const trace::HostEvent& call = trace_.host_events[static_cast<size_t>(event.host)];
          if (call.correlation != trace::kNone) launches_.try_emplace(call.correlation, next);
        }
        ++next;
      }
    }
  }

  void add_events() {
    for (size_t i = 0; i < events_.size(); ++i) {
      const Track& track = source_.tracks_.tracks()[i];
      timeline_.tracks.push_back({static_cast<int64_t>(i), track.group, track.name, track.kind,
                                  static_cast<int64_t>(names_column_.size()),
                                  static_cast<int64_t>(events_[i].size()), track.rows});
      Time previous = timeline_.origin;
      for (const TrackEvent& event : events_[i]) {
        starts_.push_back(event.span.start - previous);
        previous = event.span.start;
        add_event(event, track.kind == "api");
      }
    }
  }

  void add_event(const TrackEvent& event, bool is_api) {
    durations_.push_back(event.span.end - event.span.start);
    names_column_.push_back(names_.id(trace_, event.name, is_api));
    rows_.push_back(static_cast<uint16_t>(std::min<uint32_t>(event.row, UINT16_MAX)));
    merged_.push_back(event.merged);
    const bool alone = event.merged == 1;
    details_column_.push_back(alone ? details_.of(event) : 0);
    links_.push_back(alone ? link_of(event) : -1);
    const bool path = event.device >= 0 && source_.on_path_[static_cast<size_t>(event.device)];
    flags_.push_back(static_cast<uint8_t>((path ? kOnPath : 0) | (alone ? 0 : kMerged)));
  }

  int32_t link_of(const TrackEvent& event) const {
    if (event.device < 0) return -1;
    const int64_t correlation = trace_.device_events[static_cast<size_t>(event.device)].correlation;
    const auto found = launches_.find(correlation);
    return found == launches_.end() ? -1 : found->second;
  }

  void add_counters() {
    for (size_t i = 0; i < samples_.size(); ++i) {
      const CounterSeries& series = source_.counters_[i];
      const Samples samples =
          timeline_.resolution > 0 ? thinned(samples_[i], timeline_.resolution) : std::move(samples_[i]);
      const auto unit = trace_.counter_units.find(series.counter);
      timeline_.tracks.push_back(
          {static_cast<int64_t>(timeline_.tracks.size()), fmt::format("GPU {} counters", series.device),
           trace_.text(series.counter), "counter", static_cast<int64_t>(values_.size()),
           static_cast<int64_t>(samples.size()), 1, unit == trace_.counter_units.end() ? "" : unit->second});
      Time previous = timeline_.origin;
      for (const trace::CounterSample* sample : samples) {
        times_.push_back(sample->time - previous);
        previous = std::max(sample->time, previous);
        values_.push_back(sample->value);
      }
    }
  }

  void add_path() {
    for (const analysis::PathSegment* segment : path_in_window()) {
      const int64_t track = track_of(trace_, source_.tracks_, *segment);
      if (track < 0) continue;
      timeline_.path.push_back({track, segment->span.start - timeline_.origin,
                                segment->span.end - timeline_.origin, function_name(segment->function)});
    }
  }

  std::vector<const analysis::PathSegment*> path_in_window() const {
    const std::vector<analysis::PathSegment>& all = source_.path_.segments;
    auto segment = std::partition_point(all.begin(), all.end(),
                                        [&](const auto& one) { return one.span.end <= window_.start; });
    std::vector<const analysis::PathSegment*> chosen;
    for (; segment != all.end() && segment->span.start < window_.end; ++segment) chosen.push_back(&*segment);
    if (chosen.size() <= kMostSegments) return chosen;
    std::nth_element(chosen.begin(), chosen.begin() + kMostSegments, chosen.end(),
                     [](const auto* a, const auto* b) { return length(a->span) > length(b->span); });
    chosen.resize(kMostSegments);
    std::sort(chosen.begin(), chosen.end(),
              [](const auto* a, const auto* b) { return a->span.start < b->span.start; });
    return chosen;
  }

  uint32_t function_name(int32_t function) {
    if (function < 0) return 0;
    const auto [found, is_new] =
        functions_.try_emplace(function, static_cast<uint32_t>(timeline_.strings.size()));
    if (is_new) timeline_.strings.push_back(source_.path_.functions[static_cast<size_t>(function)].name);
    return found->second;
  }

  void write_columns() {
    Blob blob(&timeline_);
    starts_.write(&blob, "start");
    durations_.write(&blob, "duration");
    blob.add("name", "u32", names_column_);
    blob.add("depth", "u16", rows_);
    blob.add("detail", "u32", details_column_);
    blob.add("link", "i32", links_);
    blob.add("flags", "u8", flags_);
    blob.add("merged", "u32", merged_);
    times_.write(&blob, "time");
    blob.add("value", "f64", values_);
  }

  const TimelineSource& source_;
  const Trace& trace_;
  Timeline timeline_;
  trace::Span window_;
  Names names_;
  TimelineDetails details_;
  std::vector<std::vector<TrackEvent>> events_;      // events of each track
  std::vector<Samples> samples_;                     // samples of each counter
  std::unordered_map<int64_t, int32_t> launches_;    // by correlation
  std::unordered_map<int32_t, uint32_t> functions_;  // the names of the path's functions
  WideColumn starts_;
  WideColumn durations_;
  std::vector<uint32_t> names_column_;
  std::vector<uint16_t> rows_;
  std::vector<uint32_t> details_column_;
  std::vector<int32_t> links_;
  std::vector<uint8_t> flags_;
  std::vector<uint32_t> merged_;
  WideColumn times_;
  std::vector<double> values_;
};

TimelineSource::TimelineSource(const Trace& trace, const analysis::CriticalPath& path)
    : trace_(trace),
      path_(path),
      extent_(trace::extent(trace)),
      tracks_(trace),
      on_path_(trace.device_events.size(), false) {
  for (const analysis::PathSegment& segment : path.segments) {
    if (segment.operation >= 0 && segment.event >= 0 && static_cast<size_t>(segment.event) < on_path_.size())
      on_path_[static_cast<size_t>(segment.event)] = true;
  }
  std::map<std::pair<int32_t, trace::StringId>, Samples> series;
  for (const trace::CounterSample& sample : trace.counter_samples)
    series[{sample.device, sample.counter}].push_back(&sample);
  for (auto& [key, samples] : series) {
    std::stable_sort(samples.begin(), samples.end(),
                     [](const auto* a, const auto* b) { return a->time < b->time; });
    counters_.push_back({key.first, key.second, std::move(samples)});
  }
}

Timeline TimelineSource::window(const TimelineOptions& options) const {
  return TimelineWindow(*this, options).make();
}

}  // namespace hone::report
