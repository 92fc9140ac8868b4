// The points of host threads at which edges begin and end, and the launches that begin there (R1).
#include <algorithm>

#include "analysis/dependencies/host_waits.hpp"

namespace hone::analysis::dependencies {
namespace {

int32_t size_of(const auto& rows) { return static_cast<int32_t>(rows.size()); }

class NodeBuilder {
 public:
  explicit NodeBuilder(EventGraph& graph) : graph_(graph), node_of_call_(graph.calls.size(), -1) {
    launches_.assign(graph.calls.size(), false);
    for (const Operation& operation : graph.operations) {
      if (operation.call >= 0) launches_[static_cast<size_t>(operation.call)] = true;
    }
  }

  void add_threads() {
    const std::vector<trace::HostEvent>& events = graph_.trace->host_events;
    for (size_t first = 0; first < events.size();) {
      const int32_t thread = events[first].thread;
      Span span;
      bool any = false;
      for (; first < events.size() && events[first].thread == thread; ++first) {
        // In stream order, not in that of the thread.
        if (events[first].kind == trace::HostKind::kHostFunction) continue;
        span = any ? Span{span.start, std::max(span.end, events[first].end)}
                   : Span{events[first].start, events[first].end};
        any = true;
      }
      if (any) add_thread(thread, span);
    }
  }

  /// An operation that begins before its launch, which clocks make some do, is linked to the node before.
  int64_t link_launches() {
    int64_t early = 0;
    for (Operation& operation : graph_.operations) {
      if (operation.call < 0) continue;
      const int32_t node = node_of_call_[static_cast<size_t>(operation.call)];
      const Time time = graph_.nodes[static_cast<size_t>(node)].time;
      if (time > operation.enter) ++early;
      // One without duration comes before all host nodes of its time.
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

  /// Times of a thread never decrease; only a trace that contradicts itself would let them.
  int32_t add(int32_t thread, Time time) {
    const Range range = graph_.threads[static_cast<size_t>(thread)].nodes;
    if (size_of(graph_.nodes) > range.begin) time = std::max(time, graph_.nodes.back().time);
    graph_.nodes.push_back({time, -1});
    graph_.node_thread.push_back(thread);
    return size_of(graph_.nodes) - 1;
  }

  /// Calls are asked for in the order of the waits.
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
  std::vector<int32_t> node_of_call_;
  std::vector<bool> launches_;
  int32_t next_wait_ = 0;
};

}  // namespace

int64_t add_nodes(EventGraph& graph) {
  NodeBuilder builder(graph);
  builder.add_threads();
  return builder.link_launches();
}

}  // namespace hone::analysis::dependencies
