// See function_table.hpp.
#include "analysis/questions/function_table.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "analysis/questions/idle_time.hpp"

namespace hone::analysis {
namespace {

constexpr Time kNever = std::numeric_limits<Time>::min();

/// The times at which each sort of dependency allowed an operation to begin.
struct Readiness {
  Time launched_and_next = kNever;  ///< by launch and stream order
  Time others = kNever;             ///< by other dependencies that the program requested
  Time queue = kNever;              ///< by false dependencies
};

Readiness readiness(const EventGraph& graph, int32_t i) {
  const Operation& operation = graph.operations[static_cast<size_t>(i)];
  Readiness ready;
  if (operation.launch >= 0) ready.launched_and_next = launch_time(graph, operation);
  for (const Dependency& dependency : graph.dependencies_of(i)) {
    const Operation& other = graph.operations[static_cast<size_t>(dependency.operation)];
    Time& time = dependency.kind == DependencyKind::kQueue ? ready.queue
                 : other.stream == operation.stream        ? ready.launched_and_next
                                                           : ready.others;
    time = std::max(time, std::min(other.leave, operation.enter));
  }
  return ready;
}

/// The difference of both times; 0 if one of them did not happen.
Time excess(Time later, Time earlier) {
  return later == kNever || earlier == kNever ? 0 : std::max<Time>(0, later - earlier);
}

/// The waiting time of all host threads up to any moment, summed over the threads.
class WaitedUntil {
 public:
  explicit WaitedUntil(const EventGraph& graph) {
    std::vector<std::pair<Time, int32_t>> changes;
    for (const HostWait& wait : graph.waits) {
      // A wait for another thread is not caused by an operation.
      if (wait.end <= wait.begin || wait.source >= 0) continue;
      changes.emplace_back(wait.begin, 1);
      changes.emplace_back(wait.end, -1);
    }
    std::sort(changes.begin(), changes.end());
    Point point;
    for (const auto& [time, change] : changes) {
      if (!points_.empty()) point.waited += point.threads * (time - point.time);
      point.time = time;
      point.threads += change;
      points_.push_back(point);
    }
  }

  Time at(Time time) const {
    const auto after = std::upper_bound(points_.begin(), points_.end(), time,
                                        [](Time t, const Point& point) { return t < point.time; });
    if (after == points_.begin()) return 0;
    const Point& point = *(after - 1);
    return point.waited + point.threads * (time - point.time);
  }
  bool empty() const { return points_.empty(); }

 private:
  struct Point {
    Time time = 0;
    Time waited = 0;      ///< waiting time until then
    int64_t threads = 0;  ///< number of threads that wait from then on
  };
  std::vector<Point> points_;
};

}  // namespace

int32_t FunctionTable::number(ChargeKind kind, StringId name) {
  const auto kind_index = static_cast<size_t>(kind);
  if (kind_index >= numbers_.size()) numbers_.resize(kind_index + 1);
  std::vector<int32_t>& by_name = numbers_[kind_index];
  if (by_name.empty()) by_name.assign(graph_.trace->strings.size(), -1);
  int32_t& number = by_name[name];
  if (number < 0) {
    number = static_cast<int32_t>(rows_.size());
    FunctionTime& row = rows_.emplace_back();
    row.kind = kind;
    row.name = charge_name(graph_, kind, name);
  }
  return number;
}

std::vector<int32_t> FunctionTable::sort() {
  std::vector<int32_t> order(rows_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](int32_t i) {
    const FunctionTime& row = rows_[static_cast<size_t>(i)];
    return std::tuple<Time, Time, const std::string&, ChargeKind>(-row.on_path, -row.waiting, row.name,
                                                                  row.kind);
  };
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return key(a) < key(b); });
  std::vector<FunctionTime> sorted;
  std::vector<int32_t> place(rows_.size());
  for (const int32_t i : order) {
    place[static_cast<size_t>(i)] = static_cast<int32_t>(sorted.size());
    sorted.push_back(std::move(rows_[static_cast<size_t>(i)]));
  }
  rows_ = std::move(sorted);
  return place;
}

void add_waiting(const EventGraph& graph, FunctionTable& table) {
  for (size_t i = 0; i < graph.calls.size(); ++i)
    ++table.at(ChargeKind::kCall, graph.call_name(static_cast<int32_t>(i))).calls;
  for (const HostWait& wait : graph.waits)
    table.at(ChargeKind::kCall, graph.call_name(wait.call)).waiting += wait.end - wait.begin;
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    FunctionTime& row = table.of(graph.operations[i]);
    ++row.calls;
    const Readiness ready = readiness(graph, static_cast<int32_t>(i));
    row.device_waiting += excess(std::max(ready.others, ready.queue), ready.launched_and_next);
    row.queue_delay += excess(ready.queue, std::max(ready.launched_and_next, ready.others));
  }
}

void add_blame(const EventGraph& graph, FunctionTable& table) {
  const WaitedUntil waited(graph);
  if (!waited.empty()) {
    for (const Operation& operation : graph.operations)
      table.of(operation).blame += waited.at(operation.leave) - waited.at(operation.enter);
  }
  visit_idle(graph, [&](int32_t, Span, const std::vector<Charge>& charges) {
    for (const Charge& charge : charges) {
      if (charge.kind == ChargeKind::kCall || charge.kind == ChargeKind::kOther)
        table.at(charge.kind, charge.name).blame += charge.span.end - charge.span.start;
    }
  });
}

}  // namespace hone::analysis
