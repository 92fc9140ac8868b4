// See replay.hpp.
#include "analysis/graph/replay.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analysis/graph/path_walk.hpp"

namespace hone::analysis {
namespace {

Time median(std::vector<Time>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool is_copy(const Operation& operation) { return operation.kind == OperationKind::kCopy; }

bool is_upload(const trace::Trace& trace, const Operation& operation) {
  const int32_t detail = trace.device_events[static_cast<size_t>(operation.event)].detail;
  return detail >= 0 &&
         trace.transfers[static_cast<size_t>(detail)].direction == trace::CopyDirection::kHostToDevice;
}

/// True for an order that exists only because copies and other work share a stream or a queue. The order by
/// events and graph edges is intended by the program.
bool comes_from_sharing(DependencyKind kind) {
  return kind == DependencyKind::kStreamOrder || kind == DependencyKind::kDefaultStream ||
         kind == DependencyKind::kQueue;
}

Time scaled(Time lag, Time from, Time to) {
  if (from == to || from == 0) return lag;
  return static_cast<Time>(static_cast<__int128>(lag) * to / from);
}

}  // namespace

Replay::Replay(const EventGraph& graph)
    : graph_(graph), operations_(static_cast<int32_t>(graph.operations.size())) {
  order_nodes();
  add_edges();
  std::vector<std::pair<int32_t, int32_t>> last;  // last copy and last other operation of every stream
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    const Operation& operation = graph.operations[i];
    const auto stream = static_cast<size_t>(operation.stream + 1);
    if (stream >= last.size()) last.resize(stream + 1, {-1, -1});
    copy_before_.push_back(operation.stream < 0 ? -1 : last[stream].first);
    other_before_.push_back(operation.stream < 0 ? -1 : last[stream].second);
    (is_copy(operation) ? last[stream].first : last[stream].second) = static_cast<int32_t>(i);
  }
}

Time Replay::node_time(int32_t node) const {
  if (node >= 2 * operations_) return graph_.nodes[static_cast<size_t>(node - 2 * operations_)].time;
  const Operation& operation = graph_.operations[static_cast<size_t>(node / 2)];
  return node % 2 == 0 ? operation.enter : operation.leave;
}

/// At equal times, ends of operations come first, then host nodes, then begins of operations: in this order a
/// wait of zero length and a launch without latency lead from one to the next. An operation without duration
/// begins at its end node.
void Replay::order_nodes() {
  const auto earlier = [this](int32_t a, int32_t b) { return node_time(a) < node_time(b); };
  std::vector<int32_t> ends;
  std::vector<int32_t> begins;
  for (int32_t i = 0; i < operations_; ++i) {
    const Operation& operation = graph_.operations[static_cast<size_t>(i)];
    (operation.enter == operation.leave ? ends : begins).push_back(2 * i);
    ends.push_back(2 * i + 1);
  }
  std::vector<int32_t> hosts(graph_.nodes.size());
  for (size_t i = 0; i < hosts.size(); ++i) hosts[i] = 2 * operations_ + static_cast<int32_t>(i);
  std::stable_sort(ends.begin(), ends.end(), earlier);
  const std::vector<bool> after = graph_.nodes_after_others();
  const auto rank = [&](int32_t node) {
    return std::pair(node_time(node), static_cast<bool>(after[static_cast<size_t>(node - 2 * operations_)]));
  };
  std::stable_sort(hosts.begin(), hosts.end(), [&](int32_t a, int32_t b) { return rank(a) < rank(b); });
  std::vector<int32_t> before;
  std::merge(ends.begin(), ends.end(), hosts.begin(), hosts.end(), std::back_inserter(before), earlier);
  std::merge(before.begin(), before.end(), begins.begin(), begins.end(), std::back_inserter(order_), earlier);
}

/// If a lag decided when an operation began, it is known exactly. For any other lag the trace gives only an
/// upper bound, so the typical lag is used.
void Replay::find_typical_lags(Time& launch_lag, Time& queue_lag) const {
  std::vector<Time> launches;
  std::vector<Time> queues;
  for (int32_t i = 0; i < operations_; ++i) {
    const Operation& operation = graph_.operations[static_cast<size_t>(i)];
    const Decisive cause = decisive(graph_, i);
    if (cause.by_launch && !operation.blocking) launches.push_back(operation.enter - cause.time);
    if (cause.dependency >= 0) queues.push_back(operation.enter - cause.time);
  }
  launch_lag = median(launches);
  queue_lag = median(queues);
}

Replay::Edge Replay::edge_to(const Operation& source, int32_t index, Time time) const {
  if (source.leave > time) return {2 * index, -1, time - source.enter, true};
  return {2 * index + 1, -1, time - source.leave, false};
}

void Replay::add_edges() {
  Time launch_lag = 0;
  Time queue_lag = 0;
  find_typical_lags(launch_lag, queue_lag);
  first_edge_.push_back(0);
  for (int32_t i = 0; i < operations_; ++i) {
    add_operation_edges(i, launch_lag, queue_lag);
    first_edge_.push_back(static_cast<int32_t>(edges_.size()));
  }
  for (const HostWait& wait : graph_.waits) {
    add_wait_edges(wait);
    first_edge_.push_back(static_cast<int32_t>(edges_.size()));
  }
}

void Replay::add_operation_edges(int32_t i, Time launch_lag, Time queue_lag) {
  const Operation& operation = graph_.operations[static_cast<size_t>(i)];
  const Decisive cause = decisive(graph_, i);
  if (operation.launch >= 0) {
    const int32_t node = 2 * operations_ + operation.launch;
    const Time lag = operation.enter - node_time(node);
    edges_.push_back({node, -1, cause.by_launch ? lag : std::min(lag, launch_lag), false});
  }
  const int32_t first = graph_.first_dependency[static_cast<size_t>(i)];
  const int32_t last = graph_.first_dependency[static_cast<size_t>(i) + 1];
  for (int32_t at = first; at < last; ++at) {
    const int32_t on = graph_.dependencies[static_cast<size_t>(at)].operation;
    Edge edge = edge_to(graph_.operations[static_cast<size_t>(on)], on, operation.enter);
    if (!edge.inside && at != cause.dependency) edge.lag = std::min(edge.lag, queue_lag);
    edge.dependency = at;
    edges_.push_back(edge);
  }
}

void Replay::add_wait_edges(const HostWait& wait) {
  for (const int32_t cause : graph_.causes_of(wait)) {
    Edge edge = edge_to(graph_.operations[static_cast<size_t>(cause)], cause, wait.end);
    if (!edge.inside) edge.lag = 0;
    edges_.push_back(edge);
  }
}

/// State of one replay.
struct Replay::Run {
  const Replay& replay;
  const EventGraph& graph;
  const Changes& changes;
  std::vector<Time> times;

  Time duration(int32_t i) const {
    const Operation& operation = graph.operations[static_cast<size_t>(i)];
    const Time measured = operation.leave - operation.enter;
    if (!changes.faster || changes.faster->name != operation.name || changes.faster->kind != operation.kind)
      return measured;
    if (changes.faster->factor == 0) return 0;
    return std::llround(static_cast<double>(measured) / changes.faster->factor);
  }

  Time along(const Edge& edge) const {
    const Time source = times[static_cast<size_t>(edge.source)];
    if (!edge.inside || !changes.faster) return source + edge.lag;
    const Operation& operation = graph.operations[static_cast<size_t>(edge.source / 2)];
    return source + scaled(edge.lag, operation.leave - operation.enter, duration(edge.source / 2));
  }

  /// If copies overlap other work, an operation follows only the last operation of its own sort.
  std::optional<Time> past_copies(const Edge& edge, const Operation& operation) const {
    const Dependency& dependency = graph.dependencies[static_cast<size_t>(edge.dependency)];
    const auto on = static_cast<size_t>(dependency.operation);
    if (is_copy(operation) == is_copy(graph.operations[on]) || !comes_from_sharing(dependency.kind))
      return along(edge);
    const int32_t instead = is_copy(operation) ? replay.copy_before_[on] : replay.other_before_[on];
    if (instead < 0) return std::nullopt;
    return times[2 * static_cast<size_t>(instead) + 1];
  }

  Time begin_of(int32_t i) const {
    const Operation& operation = graph.operations[static_cast<size_t>(i)];
    std::optional<Time> begin;
    for (int32_t at = replay.first_edge_[static_cast<size_t>(i)];
         at < replay.first_edge_[static_cast<size_t>(i) + 1]; ++at) {
      const Edge& edge = replay.edges_[static_cast<size_t>(at)];
      const std::optional<Time> time =
          changes.overlap_copies && edge.dependency >= 0 ? past_copies(edge, operation) : along(edge);
      if (time && (!begin || *time > *begin)) begin = time;
    }
    return begin.value_or(operation.enter);
  }

  /// The earliest end of the wait that this cause allows; nothing if the call no longer waits for it.
  std::optional<Time> wait_end(const HostWait& wait, const Edge& edge) const {
    if (changes.without_waits && graph.call_name(wait.call) == *changes.without_waits) return std::nullopt;
    const auto number = static_cast<size_t>(edge.source / 2);
    const Operation& cause = graph.operations[number];
    if (!changes.overlap_copies || !is_copy(cause)) return along(edge);
    // The copy no longer waits for earlier work, but a thread that waits for the results still waits for the
    // operation that computes them.
    std::optional<Time> end;
    if (const int32_t work = replay.other_before_[number]; work >= 0 && !is_upload(*graph.trace, cause))
      end = times[2 * static_cast<size_t>(work) + 1];
    if (cause.call == wait.call) return end;
    return end ? std::max(*end, along(edge)) : along(edge);
  }

  Time host_time(int32_t node) const { return times[static_cast<size_t>(2 * replay.operations_ + node)]; }

  /// How much later this node comes than in the trace.
  Time delay(int32_t node) const { return host_time(node) - graph.nodes[static_cast<size_t>(node)].time; }

  Time host(int32_t node) const {
    const auto number = static_cast<size_t>(node);
    const HostNode& row = graph.nodes[number];
    const HostThread& thread = graph.threads[static_cast<size_t>(graph.node_thread[number])];
    if (node == thread.nodes.begin) return thread.creator < 0 ? row.time : row.time + delay(thread.creator);
    const Time before = times[2 * static_cast<size_t>(replay.operations_) + number - 1];
    if (row.wait < 0) return before + row.time - graph.nodes[number - 1].time;
    const HostWait& wait = graph.waits[static_cast<size_t>(row.wait)];
    const auto first = static_cast<size_t>(replay.operations_ + row.wait);
    Time end = before;
    const bool waits = !changes.without_waits || graph.call_name(wait.call) != *changes.without_waits;
    if (wait.source >= 0 && waits) end = std::max(end, host_time(wait.source));
    for (int32_t at = replay.first_edge_[first]; at < replay.first_edge_[first + 1]; ++at) {
      const Edge& edge = replay.edges_[static_cast<size_t>(at)];
      if (const std::optional<Time> over = wait_end(wait, edge)) end = std::max(end, *over);
    }
    return end;
  }
};

Time Replay::wall(const Changes& changes) const {
  Run run{*this, graph_, changes, std::vector<Time>(order_.size())};
  Time end = graph_.window.start;
  for (const int32_t node : order_) {
    Time& time = run.times[static_cast<size_t>(node)];
    if (node >= 2 * operations_) {
      time = run.host(node - 2 * operations_);
    } else if (node % 2 == 0) {
      time = run.begin_of(node / 2);
    } else {
      time = run.times[static_cast<size_t>(node) - 1] + run.duration(node / 2);
    }
    end = std::max(end, time);
  }
  return end - graph_.window.start;
}

}  // namespace hone::analysis
