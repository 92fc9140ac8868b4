// Creates the points of host threads at which edges begin and end, and links operations to their launches
// (R1).
#include <algorithm>
#include <optional>
#include <tuple>

#include "analysis/graph/dependencies/host_waits.hpp"

namespace hone::analysis::dependencies {
namespace {

int32_t size_of(const auto& rows) { return static_cast<int32_t>(rows.size()); }

/// Excluded are host functions, which run in the order of their stream and not of a thread, and the activity
/// of the profiler's threads and after the end of the program.
bool is_program(trace::HostKind kind) {
  return kind != trace::HostKind::kHostFunction && kind != trace::HostKind::kOverhead;
}

class NodeBuilder {
 public:
  NodeBuilder(EventGraph& graph, const std::vector<ThreadEdge>& edges)
      : graph_(graph), edges_(edges), node_of_call_(graph.calls.size(), -1) {
    launches_.assign(graph.calls.size(), false);
    for (const Operation& operation : graph.operations) {
      if (operation.call >= 0) launches_[static_cast<size_t>(operation.call)] = true;
    }
  }

  void add_threads() {
    std::vector<std::optional<Span>> spans(graph_.threads.size());
    const auto include = [&spans](const auto& row) {
      std::optional<Span>& span = spans[static_cast<size_t>(row.thread)];
      span = span ? Span{std::min(span->start, row.start), std::max(span->end, row.end)}
                  : Span{row.start, row.end};
    };
    for (const trace::HostEvent& event : graph_.trace->host_events) {
      if (is_program(event.kind)) include(event);
    }
    for (const trace::ThreadSync& row : graph_.trace->thread_syncs) include(row);
    for (size_t i = 0; i < spans.size(); ++i) {
      if (spans[i]) add_thread(static_cast<int32_t>(i), *spans[i]);
    }
  }

  /// Links operations to the node of their launch. If clock errors make an operation begin before its launch,
  /// it is linked to the previous node.
  int64_t link_launches() {
    int64_t early = 0;
    for (Operation& operation : graph_.operations) {
      if (operation.call < 0) continue;
      const int32_t node = node_of_call_[static_cast<size_t>(operation.call)];
      const Time time = graph_.nodes[static_cast<size_t>(node)].time;
      if (time > operation.enter) ++early;
      // An operation without duration comes before all host nodes of the same time.
      const bool fits =
          time < operation.enter || (time == operation.enter && operation.leave > operation.enter);
      operation.launch = fits ? node : last_before(operation);
    }
    return early;
  }

 private:
  void add_thread(int32_t number, Span span) {
    HostThread& thread = graph_.threads[static_cast<size_t>(number)];
    thread.nodes.begin = size_of(graph_.nodes);
    add(number, span.start);
    for (int32_t call = thread.calls.begin; call < thread.calls.end; ++call) {
      const int32_t wait = wait_of(call);
      if (wait < 0 && !launches_[static_cast<size_t>(call)]) continue;
      const Time enter = graph_.calls[static_cast<size_t>(call)].enter;
      node_of_call_[static_cast<size_t>(call)] = add(number, enter);
      if (wait < 0) continue;
      HostWait& row = graph_.waits[static_cast<size_t>(wait)];
      if (row.begin > enter) add(number, row.begin);
      row.begin = graph_.nodes.back().time;
      row.end = std::max(row.begin, row.end);
      graph_.nodes[static_cast<size_t>(add(number, row.end))].wait = wait;
    }
    add(number, span.end);
    thread.nodes.end = size_of(graph_.nodes);
  }

  int32_t add(int32_t thread, Time time) {
    for (; next_edge_ < edges_.size() &&
           std::tie(edges_[next_edge_].thread, edges_[next_edge_].time) <= std::tie(thread, time);
         ++next_edge_)
      add_node(thread, edges_[next_edge_].time);
    return add_node(thread, time);
  }

  /// Times of a thread never decrease, except in a trace that contradicts itself.
  int32_t add_node(int32_t thread, Time time) {
    const Range range = graph_.threads[static_cast<size_t>(thread)].nodes;
    if (size_of(graph_.nodes) > range.begin) time = std::max(time, graph_.nodes.back().time);
    graph_.nodes.push_back({time, -1});
    graph_.node_thread.push_back(thread);
    return size_of(graph_.nodes) - 1;
  }

  /// The caller asks for calls in the order of the waits.
  int32_t wait_of(int32_t call) {
    while (next_wait_ < size_of(graph_.waits) && graph_.waits[static_cast<size_t>(next_wait_)].call < call)
      ++next_wait_;
    const bool found =
        next_wait_ < size_of(graph_.waits) && graph_.waits[static_cast<size_t>(next_wait_)].call == call;
    return found ? next_wait_ : -1;
  }

  int32_t last_before(const Operation& operation) const {
    const int32_t thread = graph_.calls[static_cast<size_t>(operation.call)].thread;
    const Range range = graph_.threads[static_cast<size_t>(thread)].nodes;
    const auto first = graph_.nodes.begin() + range.begin;
    const auto after =
        std::partition_point(first, graph_.nodes.begin() + range.end,
                             [&](const HostNode& node) { return node.time < operation.enter; });
    return after == first ? -1 : static_cast<int32_t>(after - 1 - graph_.nodes.begin());
  }

  EventGraph& graph_;
  const std::vector<ThreadEdge>& edges_;
  size_t next_edge_ = 0;
  std::vector<int32_t> node_of_call_;
  std::vector<bool> launches_;
  int32_t next_wait_ = 0;
};

}  // namespace

int64_t add_nodes(EventGraph& graph, const std::vector<ThreadEdge>& edges) {
  NodeBuilder builder(graph, edges);
  builder.add_threads();
  return builder.link_launches();
}

}  // namespace hone::analysis::dependencies
