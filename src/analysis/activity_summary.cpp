// See activity_summary.hpp.
#include "analysis/activity_summary.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

#include "analysis/names.hpp"

namespace hone::analysis {
namespace {

using trace::DeviceEvent;
using trace::DeviceKind;
using trace::HostEvent;
using trace::HostKind;
using trace::KernelLaunch;
using trace::Trace;

bool within(Time time, Span window) { return time >= window.start && time < window.end; }

/// What the rows of a table differ in.
struct Key {
  ActivityKind kind = ActivityKind::kKernel;
  trace::StringId name = 0;  ///< in the table's own names
  std::array<int32_t, 6> shape{};

  bool operator==(const Key&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    size_t hash = (static_cast<size_t>(key.name) << 8) + static_cast<size_t>(key.kind);
    for (const int32_t value : key.shape) hash = hash * 1000003 + static_cast<size_t>(value);
    return std::hash<size_t>{}(hash);
  }
};

/// Gathers durations by name; a row's name is made once for each name of the trace.
class Table {
 public:
  using Naming = std::function<std::string(const std::string&)>;
  Table(const Trace& trace, Naming naming)
      : trace_(trace), naming_(std::move(naming)), known_(trace.strings.size(), 0) {}

  void add(ActivityKind kind, trace::StringId name, const KernelLaunch* launch, Time duration) {
    if (known_[name] == 0) known_[name] = names_.intern(naming_(trace_.text(name)));
    add_row({kind, known_[name], {}}, launch, duration);
  }
  void add(ActivityKind kind, std::string_view name, Time duration) {
    add_row({kind, names_.intern(name), {}}, nullptr, duration);
  }

  /// The rows, longest first.
  std::vector<Activity> finish() {
    std::vector<Activity> result;
    Time sum = 0;
    for (auto& [key, row] : rows_) {
      sum += row.total;
      result.push_back(
          {key.kind, names_[key.name], row.launch, row.total, 0, base::summarize(row.durations)});
    }
    for (Activity& activity : result)
      activity.share = sum > 0 ? static_cast<double>(activity.total) / static_cast<double>(sum) : 0;
    std::sort(result.begin(), result.end(), [](const Activity& a, const Activity& b) {
      return a.total != b.total ? a.total > b.total : a.name < b.name;
    });
    return result;
  }

 private:
  struct Row {
    std::vector<double> durations;
    Time total = 0;
    std::optional<KernelLaunch> launch;
  };

  void add_row(Key key, const KernelLaunch* launch, Time duration) {
    if (launch != nullptr) {
      std::copy(launch->grid.begin(), launch->grid.end(), key.shape.begin());
      std::copy(launch->block.begin(), launch->block.end(), key.shape.begin() + 3);
    }
    Row& row = rows_[key];
    if (row.durations.empty() && launch != nullptr) row.launch = *launch;
    row.durations.push_back(static_cast<double>(duration));
    row.total += duration;
  }

  const Trace& trace_;
  Naming naming_;
  std::vector<trace::StringId> known_;  // of a name of the trace: of the row; 0 not yet
  trace::StringTable names_;
  std::unordered_map<Key, Row, KeyHash> rows_;
};

trace::CopyDirection direction_of(const Trace& trace, const DeviceEvent& event) {
  return event.detail < 0 ? trace::CopyDirection::kUnknown
                          : trace.transfers[static_cast<size_t>(event.detail)].direction;
}

std::vector<Activity> summarize_gpu(const Trace& trace, Span window, const SummaryOptions& options) {
  Table table(trace, [&](const std::string& name) { return options.base_names ? base_name(name) : name; });
  for (const DeviceEvent& event : trace.device_events) {
    if (!within(event.start, window)) continue;
    const Time duration = event.end - event.start;
    if (event.kind == DeviceKind::kCopy) {
      table.add(ActivityKind::kCopy,
                "[CUDA memcpy " + std::string(direction_name(direction_of(trace, event))) + "]", duration);
    } else if (event.kind == DeviceKind::kSet) {
      table.add(ActivityKind::kSet, "[CUDA memset]", duration);
    } else {
      const bool shaped = options.by_launch_shape && event.detail >= 0;
      table.add(ActivityKind::kKernel, event.name,
                shaped ? &trace.launches[static_cast<size_t>(event.detail)] : nullptr, duration);
    }
  }
  return table.finish();
}

template <class Wanted>
std::vector<Activity> summarize_host(const Trace& trace, Span window, ActivityKind kind,
                                     const Table::Naming& naming, const Wanted& wanted) {
  Table table(trace, naming);
  for (const HostEvent& event : trace.host_events) {
    if (wanted(event.kind) && within(event.start, window))
      table.add(kind, event.name, nullptr, event.end - event.start);
  }
  return table.finish();
}

std::vector<Volume> volumes(const Trace& trace, Span window) {
  struct Gathered {
    std::vector<Span> spans;
    std::vector<double> sizes;
    int64_t bytes = 0;
  };
  std::map<std::pair<ActivityKind, trace::CopyDirection>, Gathered> by_direction;
  for (const DeviceEvent& event : trace.device_events) {
    if (event.kind == DeviceKind::kKernel || event.detail < 0 || !within(event.start, window)) continue;
    const ActivityKind kind = event.kind == DeviceKind::kCopy ? ActivityKind::kCopy : ActivityKind::kSet;
    Gathered& gathered = by_direction[{kind, direction_of(trace, event)}];
    const int64_t bytes = trace.transfers[static_cast<size_t>(event.detail)].bytes;
    gathered.spans.push_back({event.start, event.end});
    gathered.sizes.push_back(static_cast<double>(bytes));
    gathered.bytes += bytes;
  }
  std::vector<Volume> result;
  for (auto& [key, gathered] : by_direction) {
    result.push_back({key.first, key.second, gathered.bytes, total_length(unite(std::move(gathered.spans))),
                      base::summarize(std::move(gathered.sizes))});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Volume& a, const Volume& b) { return a.bytes > b.bytes; });
  return result;
}

constexpr std::array<std::string_view, 5> kKindNames = {"kernel", "copy", "set", "api", "range"};

Json activity_json(const Activity& activity) {
  Json json = {{"kind", kKindNames.at(static_cast<size_t>(activity.kind))},
               {"name", activity.name},
               {"calls", activity.times.n},
               {"share", activity.share},
               {"total_ns", activity.total},
               {"average_ns", activity.times.mean},
               {"median_ns", activity.times.p50},
               {"min_ns", activity.times.min},
               {"max_ns", activity.times.max},
               {"sd_ns", activity.times.sd}};
  if (activity.launch) {
    json["grid"] = activity.launch->grid;
    json["block"] = activity.launch->block;
  }
  return json;
}

Json table_json(const std::vector<Activity>& table) {
  Json json = Json::array();
  for (const Activity& activity : table) json.push_back(activity_json(activity));
  return json;
}

Json volume_json(const Volume& volume) {
  return {{"kind", kKindNames.at(static_cast<size_t>(volume.kind))},
          {"direction", direction_name(volume.direction)},
          {"count", volume.sizes.n},
          {"bytes", volume.bytes},
          {"busy_ns", volume.busy},
          {"bytes_per_second", volume.rate()},
          {"average_bytes", volume.sizes.mean},
          {"median_bytes", volume.sizes.p50},
          {"min_bytes", volume.sizes.min},
          {"max_bytes", volume.sizes.max},
          {"sd_bytes", volume.sizes.sd}};
}

}  // namespace

ActivitySummary summarize_activities(const Trace& trace, Span window, const SummaryOptions& options) {
  ActivitySummary summary;
  summary.window = window;
  summary.gpu = summarize_gpu(trace, window, options);
  summary.calls = summarize_host(
      trace, window, ActivityKind::kApi, [](const std::string& name) { return std::string(api_name(name)); },
      [](HostKind kind) { return kind == HostKind::kRuntimeApi || kind == HostKind::kDriverApi; });
  summary.ranges = summarize_host(
      trace, window, ActivityKind::kRange, [](const std::string& name) { return name; },
      [](HostKind kind) {
        return kind == HostKind::kRange || kind == HostKind::kStep || kind == HostKind::kEngineStep;
      });
  summary.volumes = volumes(trace, window);
  return summary;
}

Json to_json(const ActivitySummary& summary) {
  Json copied = Json::array();
  for (const Volume& volume : summary.volumes) copied.push_back(volume_json(volume));
  return {{"start_ns", summary.window.start},          {"end_ns", summary.window.end},
          {"gpu_activities", table_json(summary.gpu)}, {"api_calls", table_json(summary.calls)},
          {"ranges", table_json(summary.ranges)},      {"transfers", std::move(copied)}};
}

}  // namespace hone::analysis
