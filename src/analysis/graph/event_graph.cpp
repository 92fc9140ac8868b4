// See event_graph.hpp. The rules are in dependencies/, one concern per file; this file combines them.
#include "analysis/graph/event_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "analysis/graph/dependencies/contract.hpp"
#include "analysis/graph/dependencies/host_waits.hpp"
#include "analysis/graph/dependencies/queues.hpp"
#include "analysis/graph/dependencies/threads.hpp"

namespace hone::analysis {
namespace {

using dependencies::HostCauses;
using trace::Severity;

void find_window(EventGraph& graph) {
  Span window{std::numeric_limits<Time>::max(), std::numeric_limits<Time>::min()};
  const auto include = [&](Time start, Time end) {
    window.start = std::min(window.start, start);
    window.end = std::max(window.end, end);
  };
  for (const HostNode& node : graph.nodes) include(node.time, node.time);
  for (const Operation& operation : graph.operations) include(operation.enter, operation.leave);
  graph.window = window.end < window.start ? Span{} : window;
}

void add_doubt(EventGraph& graph, Severity severity, const char* about, std::string text, int64_t count) {
  if (count > 0) graph.doubts.push_back({severity, about, std::move(text), count});
}

void add_clock_doubts(EventGraph& graph) {
  for (const DeviceClock& clock : graph.clock.devices) {
    if (clock.offset == 0) continue;
    add_doubt(graph, Severity::kNote, "clock",
              fmt::format("events of device {} were moved by {} ns, since some contradicted the host's clock",
                          clock.device, clock.offset),
              clock.violations);
    add_doubt(graph, Severity::kDoubt, "clock",
              fmt::format("events of device {} contradict the host's clock by up to {} ns even so",
                          clock.device, clock.largest_residual),
              clock.residual);
  }
}

/// Derives bounds on each device's clock from launches and waits. Waits that were inferred from times cannot
/// be used.
std::vector<ClockBounds> clock_bounds(const EventGraph& graph, const HostCauses& contract) {
  std::map<int32_t, ClockBounds> by_device;
  ClockBounds* last = nullptr;
  const auto bounds_of = [&](int32_t device) -> ClockBounds& {
    if (last == nullptr || last->device != device) {
      last = &by_device[device];
      last->device = device;
    }
    return *last;
  };
  for (const Operation& operation : graph.operations) {
    if (operation.device < 0 || operation.call < 0) continue;
    const Time launch = graph.calls[static_cast<size_t>(operation.call)].enter;
    bounds_of(operation.device).at_least.push_back(launch - operation.enter);
  }
  for (const dependencies::Cause& cause : contract.causes) {
    const Operation& operation = graph.operations[static_cast<size_t>(cause.operation)];
    const HostCall& call = graph.calls[static_cast<size_t>(cause.call)];
    // A query that did not succeed waited for nothing.
    const bool succeeded = graph.trace->host_events[static_cast<size_t>(call.event)].result == 0;
    if (cause.inferred || operation.device < 0 || !succeeded) continue;
    bounds_of(operation.device).at_most.push_back(call.leave - operation.leave);
  }
  std::vector<ClockBounds> bounds;
  for (auto& [device, row] : by_device) bounds.push_back(std::move(row));
  return bounds;
}

void add_doubts(EventGraph& graph, int64_t contradicted, int64_t inferred, const HostCauses& contract,
                int64_t early) {
  const auto unlaunched = std::count_if(graph.operations.begin(), graph.operations.end(),
                                        [](const Operation& operation) { return operation.call < 0; });
  add_doubt(graph, Severity::kDoubt, "dependencies", "operations have no launch in the trace", unlaunched);
  add_doubt(graph, Severity::kDoubt, "dependencies", "operations begin before their launch", early);
  add_doubt(graph, Severity::kDoubt, "dependencies",
            "waits name an event or a call that is not in the trace, and were left out", contract.unresolved);
  add_doubt(graph, Severity::kDoubt, "dependencies", "dependencies contradict the times and were left out",
            contradicted);
  add_doubt(graph, Severity::kNote, "dependencies", "dependencies were inferred from times", inferred);
  add_clock_doubts(graph);
}

EventGraph build(const trace::Trace& trace, const ClockRepair& clock, std::vector<ClockBounds>* bounds) {
  EventGraph graph;
  graph.trace = &trace;
  graph.clock = clock;
  const dependencies::CallIndex index = dependencies::add_host_events(graph);
  const std::vector<dependencies::ApiRole> roles = dependencies::roles_of_calls(graph);
  dependencies::StreamIndex streams(trace);
  const auto enqueued = dependencies::add_operations(graph, streams, index);
  dependencies::DependencyCollector collector(graph);
  const auto launches = dependencies::add_graph_edges(graph, streams, collector);
  const auto contract =
      dependencies::follow_contract(graph, streams, index, enqueued, roles, launches, collector);
  if (bounds != nullptr) *bounds = clock_bounds(graph, contract);
  dependencies::add_queue_order(graph, collector);
  dependencies::add_contention(graph, collector);
  collector.store(graph);
  const auto waits = dependencies::add_host_waits(graph, enqueued, roles, contract);
  const auto edges = dependencies::find_thread_edges(graph);
  const int64_t early = dependencies::add_nodes(graph, edges);
  const int64_t contradicted = dependencies::link_threads(graph, edges);
  find_window(graph);
  add_doubts(graph, collector.contradicted() + waits.contradicted + contradicted,
             collector.inferred() + waits.inferred, contract, early);
  return graph;
}

}  // namespace

std::span<const Dependency> EventGraph::dependencies_of(int32_t operation) const {
  const auto i = static_cast<size_t>(operation);
  return std::span(dependencies)
      .subspan(static_cast<size_t>(first_dependency[i]),
               static_cast<size_t>(first_dependency[i + 1] - first_dependency[i]));
}

std::span<const int32_t> EventGraph::causes_of(const HostWait& wait) const {
  return std::span(causes).subspan(static_cast<size_t>(wait.first_cause),
                                   static_cast<size_t>(wait.cause_count));
}

StringId EventGraph::call_name(int32_t call) const { return calls[static_cast<size_t>(call)].name; }

std::vector<bool> EventGraph::nodes_after_others() const {
  std::vector<bool> after(nodes.size(), false);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const HostThread& thread = threads[static_cast<size_t>(node_thread[i])];
    if (static_cast<int32_t>(i) == thread.nodes.begin) {
      after[i] = thread.creator >= 0;
      continue;
    }
    const bool was_woken = nodes[i].wait >= 0 && waits[static_cast<size_t>(nodes[i].wait)].source >= 0;
    after[i] = was_woken || (after[i - 1] && nodes[i - 1].time == nodes[i].time);
  }
  return after;
}

EventGraph build_event_graph(const trace::Trace& trace) {
  std::vector<ClockBounds> bounds;
  EventGraph graph = build(trace, {}, &bounds);
  ClockRepair clock;
  bool moved = false;
  for (const ClockBounds& device : bounds) {
    clock.devices.push_back(solve_clock(device));
    moved = moved || clock.devices.back().offset != 0;
  }
  if (moved) return build(trace, clock, nullptr);
  graph.clock = std::move(clock);
  return graph;
}

}  // namespace hone::analysis
