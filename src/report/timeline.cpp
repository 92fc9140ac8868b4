// See timeline.hpp.
#include "report/timeline.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analysis/intervals.hpp"
#include "analysis/names.hpp"
#include "report/timeline_details.hpp"
#include "report/timeline_tracks.hpp"

namespace hone::report {
namespace {

using analysis::length;
using trace::Time;
using trace::Trace;

constexpr int64_t kWidestWindow = 8192;
constexpr size_t kMostSegments = 20'000;
constexpr uint8_t kOnPath = 1;
constexpr uint8_t kMerged = 2;

/// Columns of numbers, one after the other.
class Blob {
 public:
  explicit Blob(Timeline* timeline) : timeline_(*timeline) {}

  template <class T>
  void add(const std::string& name, std::string_view type, const std::vector<T>& values) {
    std::string& blob = timeline_.blob;
    blob.resize((blob.size() + 7) / 8 * 8, '\0');
    timeline_.columns.push_back(
        {name, type, static_cast<int64_t>(blob.size()), static_cast<int64_t>(values.size())});
    if (!values.empty()) blob.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }

 private:
  Timeline& timeline_;
};

/// Numbers of 48 bits in two columns.
struct WideColumn {
  std::vector<uint32_t> low;
  std::vector<uint16_t> high;

  void push_back(Time value) {
    constexpr Time kMost = (Time{1} << 48) - 1;
    const auto bits = static_cast<uint64_t>(std::clamp<Time>(value, 0, kMost));
    low.push_back(static_cast<uint32_t>(bits));
    high.push_back(static_cast<uint16_t>(bits >> 32));
  }
  void write(Blob* blob, const std::string& name) const {
    blob->add(name + "_lo", "u32", low);
    blob->add(name + "_hi", "u16", high);
  }
};

/// Names of the timeline: those of the trace that it uses.
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

class Maker {
 public:
  Maker(const Trace& trace, const analysis::CriticalPath& path, const TimelineOptions& options)
      : trace_(trace), path_(path), options_(options), index_(trace), names_(&timeline_), details_(trace) {}

  Timeline make() {
    const trace::Span extent = trace::extent(trace_);
    timeline_.origin = extent.start;
    timeline_.duration = extent.end - extent.start;
    timeline_.from = std::clamp<Time>(options_.from, 0, timeline_.duration);
    timeline_.to = std::clamp<Time>(options_.to, timeline_.from, timeline_.duration);
    tracks_ = tracks_of(trace_, {extent.start + timeline_.from, extent.start + timeline_.to});
    choose_resolution();
    number_events();
    add_events();
    add_counters();
    add_path();
    write_columns();
    timeline_.details = details_.take();
    return std::move(timeline_);
  }

 private:
  void choose_resolution() {
    size_t events = 0;
    for (const Track& track : tracks_) events += track.events.size();
    const int64_t pixels =
        options_.pixels > 0 ? options_.pixels : (events > options_.most_events ? kWidestWindow : 0);
    const bool any_merged = pixels > 0 && events > static_cast<size_t>(pixels);
    for (Track& track : tracks_) rows_.push_back(assign_rows(track.events, track.kind != "stream"));
    if (!any_merged) return;
    timeline_.resolution = std::max<Time>((timeline_.to - timeline_.from) / pixels, 1);
    for (Track& track : tracks_) merge_short(track.events, timeline_.resolution);
  }

  /// The calls that launched what the device did are told by the number of their event.
  void number_events() {
    int64_t next = 0;
    for (const Track& track : tracks_) {
      for (const TrackEvent& event : track.events) {
        if (event.host >= 0 && event.merged == 1) {
          const trace::HostEvent& call = trace_.host_events[static_cast<size_t>(event.host)];
          if (call.correlation != trace::kNone)
            launches_.try_emplace(call.correlation, static_cast<int32_t>(next));
        }
        ++next;
      }
    }
    for (const analysis::PathSegment& segment : path_.segments) {
      if (segment.operation >= 0 && segment.event >= 0) on_path_.insert(segment.event);
    }
  }

  void add_events() {
    for (size_t i = 0; i < tracks_.size(); ++i) {
      const Track& track = tracks_[i];
      timeline_.tracks.push_back({static_cast<int64_t>(i), track.group, track.name, track.kind,
                                  static_cast<int64_t>(names_column_.size()),
                                  static_cast<int64_t>(track.events.size()), rows_[i]});
      Time previous = timeline_.origin;
      for (const TrackEvent& event : track.events) {
        starts_.push_back(event.span.start - previous);
        previous = event.span.start;
        add_event(event, track.kind == "api");
      }
    }
  }

  void add_event(const TrackEvent& event, bool is_api) {
    durations_.push_back(event.span.end - event.span.start);
    names_column_.push_back(names_.id(trace_, event.name, is_api));
    depths_.push_back(static_cast<uint16_t>(std::min<uint32_t>(event.depth, UINT16_MAX)));
    merged_.push_back(event.merged);
    const bool alone = event.merged == 1;
    details_column_.push_back(alone ? details_.of(event) : 0);
    links_.push_back(alone ? link_of(event) : -1);
    const bool path = event.device >= 0 && on_path_.contains(event.device);
    flags_.push_back(static_cast<uint8_t>((path ? kOnPath : 0) | (alone ? 0 : kMerged)));
  }

  int32_t link_of(const TrackEvent& event) const {
    if (event.device < 0) return -1;
    const int64_t correlation = trace_.device_events[static_cast<size_t>(event.device)].correlation;
    const auto found = launches_.find(correlation);
    return found == launches_.end() ? -1 : found->second;
  }

  void add_counters() {
    std::map<std::pair<int32_t, trace::StringId>, std::vector<const trace::CounterSample*>> series;
    for (const trace::CounterSample& sample : trace_.counter_samples)
      series[{sample.device, sample.counter}].push_back(&sample);
    for (const auto& [key, samples] : series) {
      const auto unit = trace_.counter_units.find(key.second);
      timeline_.tracks.push_back(
          {static_cast<int64_t>(timeline_.tracks.size()), fmt::format("GPU {} counters", key.first),
           trace_.text(key.second), "counter", static_cast<int64_t>(values_.size()),
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
      const int64_t track = track_of(*segment);
      if (track < 0) continue;
      timeline_.path.push_back({track, segment->span.start - timeline_.origin,
                                segment->span.end - timeline_.origin, function_name(segment->function)});
    }
  }

  std::vector<const analysis::PathSegment*> path_in_window() const {
    const Time from = timeline_.origin + timeline_.from;
    const Time to = timeline_.origin + timeline_.to;
    std::vector<const analysis::PathSegment*> chosen;
    for (const analysis::PathSegment& segment : path_.segments) {
      if (segment.span.start < to && segment.span.end > from) chosen.push_back(&segment);
    }
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
    if (is_new) timeline_.strings.push_back(path_.functions[static_cast<size_t>(function)].name);
    return found->second;
  }

  int64_t track_of(const analysis::PathSegment& segment) const {
    if (segment.thread >= 0) {
      for (const trace::HostKind kind : {trace::HostKind::kRuntimeApi, trace::HostKind::kRange}) {
        const int64_t track = index_.of_host({.kind = kind, .thread = segment.thread});
        if (track >= 0) return track;
      }
      return -1;
    }
    const auto event = static_cast<size_t>(segment.event);
    if (segment.event < 0 || event >= trace_.device_events.size()) return -1;
    return index_.of_device(trace_.device_events[event]);
  }

  void write_columns() {
    Blob blob(&timeline_);
    starts_.write(&blob, "start");
    durations_.write(&blob, "duration");
    blob.add("name", "u32", names_column_);
    blob.add("depth", "u16", depths_);
    blob.add("detail", "u32", details_column_);
    blob.add("link", "i32", links_);
    blob.add("flags", "u8", flags_);
    blob.add("merged", "u32", merged_);
    times_.write(&blob, "time");
    blob.add("value", "f64", values_);
  }

  const Trace& trace_;
  const analysis::CriticalPath& path_;
  const TimelineOptions& options_;
  Timeline timeline_;
  TrackIndex index_;
  Names names_;
  TimelineDetails details_;
  std::vector<Track> tracks_;
  std::vector<uint32_t> rows_;                       // of each track
  std::unordered_map<int64_t, int32_t> launches_;    // by correlation
  std::unordered_set<int32_t> on_path_;              // device events
  std::unordered_map<int32_t, uint32_t> functions_;  // of the path: their names
  WideColumn starts_;
  WideColumn durations_;
  std::vector<uint32_t> names_column_;
  std::vector<uint16_t> depths_;
  std::vector<uint32_t> details_column_;
  std::vector<int32_t> links_;
  std::vector<uint8_t> flags_;
  std::vector<uint32_t> merged_;
  WideColumn times_;
  std::vector<double> values_;
};

}  // namespace

Timeline make_timeline(const Trace& trace, const analysis::CriticalPath& path,
                       const TimelineOptions& options) {
  return Maker(trace, path, options).make();
}

}  // namespace hone::report
