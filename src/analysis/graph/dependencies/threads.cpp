// See threads.hpp.
#include "analysis/graph/dependencies/threads.hpp"

#include <algorithm>
#include <tuple>

namespace hone::analysis::dependencies {
namespace {

using trace::ThreadOperation;
using trace::ThreadSync;

/// Returns the kind of operation for which this one waits; itself if it does not wait.
ThreadOperation awaited(ThreadOperation operation) {
  switch (operation) {
    case ThreadOperation::kStart: return ThreadOperation::kCreate;
    case ThreadOperation::kJoin: return ThreadOperation::kExit;
    case ThreadOperation::kLock: return ThreadOperation::kUnlock;
    case ThreadOperation::kConditionWait: return ThreadOperation::kSignal;
    case ThreadOperation::kSemaphoreWait: return ThreadOperation::kPost;
    default: return operation;
  }
}

/// Actions of threads for which other threads may have waited.
class Wakes {
 public:
  explicit Wakes(const trace::Trace& trace) : trace_(trace) {
    for (const ThreadSync& row : trace.thread_syncs) {
      if (awaited(row.operation) == row.operation) rows_.push_back(&row);
    }
    std::stable_sort(rows_.begin(), rows_.end(),
                     [this](const ThreadSync* a, const ThreadSync* b) { return key(*a) < key(*b); });
    used_.assign(rows_.size(), false);
  }

  /// The last action in (after, until] of another thread for which `row` waited; null if there is none.
  const ThreadSync* last_in(const ThreadSync& row, Time after, Time until) {
    ThreadSync wanted = row;
    wanted.operation = awaited(row.operation);
    wanted.start = until;
    auto at = std::upper_bound(rows_.begin(), rows_.end(), key(wanted),
                               [this](const Key& a, const ThreadSync* b) { return a < key(*b); });
    wanted.start = after;
    // A thread cannot wake itself, but a damaged file may contain many such rows, so the search is limited.
    for (int tries = 0; tries < 256 && at != rows_.begin() && key(**(at - 1)) > key(wanted); ++tries, --at) {
      if ((*(at - 1))->thread == row.thread) continue;
      const auto number = static_cast<size_t>(at - 1 - rows_.begin());
      if (row.operation == ThreadOperation::kStart && used_[number]) return nullptr;
      used_[number] = true;
      return rows_[number];
    }
    return nullptr;
  }

 private:
  /// Addresses are unique only within a process.
  using Key = std::tuple<ThreadOperation, int64_t, int64_t, Time>;
  Key key(const ThreadSync& row) const {
    return {row.operation, trace_.threads[static_cast<size_t>(row.thread)].process, row.object, row.start};
  }

  const trace::Trace& trace_;
  std::vector<const ThreadSync*> rows_;
  std::vector<bool>
      used_;  ///< true for actions that already woke a thread, because a thread is created only once
};

/// Returns the call of the threads API that began at this time; -1 if there is none, or if another call made
/// it.
int32_t find_call(const EventGraph& graph, int32_t thread, Time start) {
  const Range range = graph.threads[static_cast<size_t>(thread)].calls;
  const auto first = graph.calls.begin() + range.begin;
  const auto last = graph.calls.begin() + range.end;
  const auto found =
      std::partition_point(first, last, [&](const HostCall& call) { return call.enter < start; });
  if (found == last || found->enter != start) return -1;
  const trace::HostEvent& event = graph.trace->host_events[static_cast<size_t>(found->event)];
  return event.kind == trace::HostKind::kThreadApi ? static_cast<int32_t>(found - graph.calls.begin()) : -1;
}

/// The first node of the thread at exactly this time; -1 when there is none.
int32_t find_node(const EventGraph& graph, int32_t thread, Time time) {
  const Range range = graph.threads[static_cast<size_t>(thread)].nodes;
  const auto last = graph.nodes.begin() + range.end;
  const auto found = std::partition_point(graph.nodes.begin() + range.begin, last,
                                          [&](const HostNode& node) { return node.time < time; });
  return found != last && found->time == time ? static_cast<int32_t>(found - graph.nodes.begin()) : -1;
}

void add_wait(EventGraph& graph, int32_t call, Time end, WaitKind kind) {
  HostWait wait;
  wait.begin = graph.calls[static_cast<size_t>(call)].enter;
  wait.end = end;
  wait.call = call;
  wait.kind = kind;
  wait.first_cause = static_cast<int32_t>(graph.causes.size());
  graph.waits.push_back(wait);
}

/// Without an explanation, the wait becomes ordinary time of its call.
void forget_wait(EventGraph& graph, int32_t node) {
  HostWait& wait = graph.waits[static_cast<size_t>(graph.nodes[static_cast<size_t>(node)].wait)];
  wait.source = -1;
  wait.end = wait.begin;
  graph.nodes[static_cast<size_t>(node)].wait = -1;
}

/// Returns for every call that waited the node at which its wait ends; -1 for the others.
std::vector<int32_t> ends_of_waits(const EventGraph& graph) {
  std::vector<int32_t> ends(graph.calls.size(), -1);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].wait < 0) continue;
    const HostWait& wait = graph.waits[static_cast<size_t>(graph.nodes[i].wait)];
    ends[static_cast<size_t>(wait.call)] = static_cast<int32_t>(i);
  }
  return ends;
}

}  // namespace

std::vector<ThreadEdge> find_thread_edges(EventGraph& graph) {
  std::vector<ThreadEdge> edges;
  const trace::Trace& trace = *graph.trace;
  Wakes wakes(trace);
  std::vector<bool> began(graph.threads.size(), false);
  std::vector<bool> waits(graph.calls.size(), false);
  for (const ThreadSync& row : trace.thread_syncs) {
    if (awaited(row.operation) == row.operation) continue;
    if (row.operation == ThreadOperation::kStart) {
      // A second beginning belongs to another thread, to which the system gave the same id.
      if (began[static_cast<size_t>(row.thread)]) continue;
      began[static_cast<size_t>(row.thread)] = true;
      const ThreadSync* made = wakes.last_in(row, -trace::kLatestTime - 1, row.start);
      if (made == nullptr) continue;
      edges.push_back({made->thread, made->start, -1, row.thread});
      graph.threads[static_cast<size_t>(row.thread)].creation = find_call(graph, made->thread, made->start);
      continue;
    }
    const int32_t call = find_call(graph, row.thread, row.start);
    if (call < 0 || waits[static_cast<size_t>(call)]) continue;
    const Time end = std::min(row.end, graph.calls[static_cast<size_t>(call)].leave);
    const ThreadSync* woken = wakes.last_in(row, row.start, end);
    if (woken == nullptr) continue;
    waits[static_cast<size_t>(call)] = true;
    edges.push_back({woken->thread, woken->start, call, -1});
    add_wait(graph, call, woken->start,
             row.operation == ThreadOperation::kLock ? WaitKind::kLock : WaitKind::kThread);
  }
  if (edges.empty()) return edges;
  std::stable_sort(graph.waits.begin(), graph.waits.end(),
                   [](const HostWait& a, const HostWait& b) { return a.call < b.call; });
  std::sort(edges.begin(), edges.end(), [](const ThreadEdge& a, const ThreadEdge& b) {
    return std::tie(a.thread, a.time, a.call, a.begun) < std::tie(b.thread, b.time, b.call, b.begun);
  });
  return edges;
}

int64_t link_threads(EventGraph& graph, const std::vector<ThreadEdge>& edges) {
  if (edges.empty()) return 0;
  const std::vector<int32_t> ends = ends_of_waits(graph);
  struct Link {
    int32_t from;
    int32_t to;
  };
  std::vector<Link> links;
  for (const ThreadEdge& edge : edges) {
    const int32_t from = find_node(graph, edge.thread, edge.time);
    const int32_t to = edge.call >= 0 ? ends[static_cast<size_t>(edge.call)]
                                      : graph.threads[static_cast<size_t>(edge.begun)].nodes.begin;
    links.push_back({from, to});
    if (edge.begun >= 0) {
      graph.threads[static_cast<size_t>(edge.begun)].creator = from;
    } else {
      graph.waits[static_cast<size_t>(graph.nodes[static_cast<size_t>(to)].wait)].source = from;
    }
  }
  // A node that depends on other threads cannot be waited for at the same time, because that could create a
  // cycle.
  const std::vector<bool> after = graph.nodes_after_others();
  int64_t contradicted = 0;
  for (size_t i = 0; i < edges.size(); ++i) {
    const auto [from, to] = links[i];
    const Time time = graph.nodes[static_cast<size_t>(to)].time;
    const bool late = from < 0 || edges[i].time > time ||
                      (edges[i].time == time && after[static_cast<size_t>(from)]) ||
                      (edges[i].call >= 0 && edges[i].time != time);
    if (!late) continue;
    ++contradicted;
    if (edges[i].begun >= 0) {
      graph.threads[static_cast<size_t>(edges[i].begun)].creator = -1;
    } else {
      forget_wait(graph, to);
    }
  }
  return contradicted;
}

}  // namespace hone::analysis::dependencies
