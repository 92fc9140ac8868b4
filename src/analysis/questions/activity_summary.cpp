// See activity_summary.hpp.
#include "analysis/questions/activity_summary.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

#include "analysis/names.hpp"
#include "analysis/questions/tensor_cores.hpp"
#include "analysis/schema/activity_summary.hpp"
#include "trace/occupancy.hpp"

namespace hone::analysis {
namespace {

using trace::DeviceEvent;
using trace::DeviceKind;
using trace::HostEvent;
using trace::HostKind;
using trace::KernelLaunch;
using trace::Trace;

bool within(Time time, Span window) { return time >= window.start && time < window.end; }

/// The properties that distinguish the rows of a table.
struct Key {
  ActivityKind kind = ActivityKind::kKernel;
  trace::StringId name = 0;  ///< an id of the table's own names
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

/// Mean of the known values of some launches, weighted by their time.
struct WeightedMean {
  double sum = 0;
  double weight = 0;

  void add(double value, double time) {
    sum += value * time;
    weight += time;
  }
  std::optional<double> mean() const { return weight > 0 ? std::optional(sum / weight) : std::nullopt; }
};

struct ShapeMeans {
  WeightedMean blocks;
  WeightedMean occupancy;

  void add(const KernelLaunch& launch, const trace::DeviceProperties* device, double time) {
    const double occupied =
        device == nullptr ? launch.recorded_occupancy : trace::estimated_occupancy(launch, *device);
    if (occupied >= 0) occupancy.add(occupied / 100, time);
    const double count = device == nullptr ? -1 : trace::blocks_per_multiprocessor(launch, *device);
    if (count >= 0) blocks.add(count, time);
  }
};

/// Collects durations by name; the row's name is computed once for each name of the trace.
class Table {
 public:
  using Naming = std::function<std::string(const std::string&)>;
  Table(const Trace& trace, Naming naming)
      : trace_(trace), naming_(std::move(naming)), known_(trace.strings.size(), 0), tensor_cores_(trace) {}

  void add(ActivityKind kind, trace::StringId name, Time duration) {
    row_of({kind, row_name(name), {}}).add(duration);
  }
  void add(ActivityKind kind, std::string_view name, Time duration) {
    row_of({kind, names_.intern(name), {}}).add(duration);
  }
  /// `shaped`: kernels of one name get one row for each launch shape.
  void add_kernel(const DeviceEvent& event, bool shaped) {
    Key key{ActivityKind::kKernel, row_name(event.name), {}};
    const KernelLaunch* launch =
        event.detail < 0 ? nullptr : &trace_.launches[static_cast<size_t>(event.detail)];
    if (shaped && launch != nullptr) {
      std::copy(launch->grid.begin(), launch->grid.end(), key.shape.begin());
      std::copy(launch->block.begin(), launch->block.end(), key.shape.begin() + 3);
    }
    Row& row = row_of(key);
    if (shaped && launch != nullptr) row.launch = *launch;
    row.add(event.end - event.start);
    const TensorCores::Answer tensor_cores = tensor_cores_.of(event);
    row.tensor_time += tensor_cores.uses ? event.end - event.start : 0;
    row.tensor_by_name = row.tensor_by_name || tensor_cores.by_name;
    if (launch == nullptr) return;
    row.shape.add(*launch, trace_.find_device(event.device), static_cast<double>(event.end - event.start));
  }

  /// The rows, longest first.
  std::vector<Activity> finish() {
    std::vector<Activity> result;
    Time sum = 0;
    for (auto& [key, row] : rows_) {
      sum += row.total;
      Activity activity{key.kind, names_[key.name], row.launch, row.total, 0, base::summarize(row.durations)};
      if (key.kind == ActivityKind::kKernel) {
        activity.tensor_cores = row.tensor_time > row.total / 2;
        activity.tensor_cores_by_name = row.tensor_by_name;
        activity.blocks_per_sm = row.shape.blocks.mean();
        activity.occupancy = row.shape.occupancy.mean();
      }
      result.push_back(std::move(activity));
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
    Time tensor_time = 0;  // time of kernels that use Tensor Cores
    bool tensor_by_name = false;
    std::optional<KernelLaunch> launch;
    ShapeMeans shape;

    void add(Time duration) {
      durations.push_back(static_cast<double>(duration));
      total += duration;
    }
  };

  trace::StringId row_name(trace::StringId name) {
    if (known_[name] == 0) known_[name] = names_.intern(naming_(trace_.text(name)));
    return known_[name];
  }
  Row& row_of(const Key& key) { return rows_[key]; }

  const Trace& trace_;
  Naming naming_;
  std::vector<trace::StringId> known_;  // the row's name for each name of the trace; 0 if not computed yet
  trace::StringTable names_;
  TensorCores tensor_cores_;
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
      table.add_kernel(event, options.by_launch_shape);
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
      table.add(kind, event.name, event.end - event.start);
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
  summary.thread_calls = summarize_host(
      trace, window, ActivityKind::kThread, [](const std::string& name) { return name; },
      [](HostKind kind) { return kind == HostKind::kThreadApi; });
  summary.volumes = volumes(trace, window);
  return summary;
}

std::string_view activity_kind_name(ActivityKind kind) {
  constexpr std::array<std::string_view, 6> kNames = {"kernel", "copy", "set", "api", "range", "thread"};
  return kNames.at(static_cast<size_t>(kind));
}

Json to_json(const ActivitySummary& summary) { return base::described_json(summary); }

}  // namespace hone::analysis
