// See path_walk.hpp. Every step leads to an earlier time or, at the same time, to an earlier element in the
// order of replay.cpp, so walks terminate.
#include "analysis/graph/path_walk.hpp"

#include <algorithm>

#include "analysis/graph/host_charges.hpp"
#include "analysis/names.hpp"

namespace hone::analysis {
namespace {

/// At `time`, either on a host thread between a node and the next, or inside an operation.
struct Position {
  bool on_host = false;
  int32_t index = -1;  ///< index of the node or the operation; -1 at the end of the walk
  Time time = 0;
};

class Walker {
 public:
  Walker(const EventGraph& graph, Time stop, std::vector<Charge>& charges)
      : graph_(graph), stop_(stop), charges_(charges) {}

  void walk(Position position) {
    while (position.index >= 0 && position.time > stop_)
      position = position.on_host ? from_host(position) : from_operation(position);
  }

  /// Goes from the begin of an operation to the end of the one for which it waited.
  Position before(int32_t operation) {
    const Operation& row = graph_.operations[static_cast<size_t>(operation)];
    const Decisive cause = decisive(graph_, operation);
    const Span gap = {std::max(cause.time, stop_), row.enter};
    if (cause.by_launch) {
      charge_to_launch(operation, row, gap);
      return {true, row.launch, cause.time};
    }
    if (cause.dependency < 0) {
      charge({{stop_, row.enter}, ChargeKind::kUnknown, 0, -1, operation});
      return {};
    }
    charge({gap, ChargeKind::kQueueGap, 0, -1, operation});
    return {false, graph_.dependencies[static_cast<size_t>(cause.dependency)].operation, cause.time};
  }

 private:
  Position from_host(Position position) {
    const HostNode& node = graph_.nodes[static_cast<size_t>(position.index)];
    const int32_t thread = graph_.node_thread[static_cast<size_t>(position.index)];
    if (node.time < position.time)
      charge_host(graph_, thread, {std::max(node.time, stop_), position.time}, charges_);
    if (node.wait >= 0) {
      const HostWait& wait = graph_.waits[static_cast<size_t>(node.wait)];
      if (wait.source >= 0) return {true, wait.source, node.time};
      const int32_t cause = decisive_cause(graph_, wait);
      if (cause >= 0)
        return {false, cause, std::min(node.time, graph_.operations[static_cast<size_t>(cause)].leave)};
    }
    if (position.index > graph_.threads[static_cast<size_t>(thread)].nodes.begin)
      return {true, position.index - 1, node.time};
    return before_thread(thread, node.time);
  }

  /// Goes from the first node of a thread to the call that created it.
  Position before_thread(int32_t thread, Time begin) {
    const HostThread& row = graph_.threads[static_cast<size_t>(thread)];
    if (row.creator < 0) {
      charge({{stop_, begin}, ChargeKind::kOther, 0, thread, -1});
      return {};
    }
    const Time created = graph_.nodes[static_cast<size_t>(row.creator)].time;
    const bool is_call = row.creation >= 0;
    charge({{std::max(created, stop_), begin},
            is_call ? ChargeKind::kCall : ChargeKind::kOther,
            is_call ? graph_.call_name(row.creation) : 0,
            graph_.node_thread[static_cast<size_t>(row.creator)],
            -1});
    return {true, row.creator, created};
  }

  Position from_operation(Position position) {
    const Operation& row = graph_.operations[static_cast<size_t>(position.index)];
    charge(
        {{std::max(row.enter, stop_), position.time}, charge_kind(row.kind), row.name, -1, position.index});
    return row.enter > stop_ ? before(position.index) : Position{};
  }

  /// Work that a call does before the copy for which it waits, such as staging, is the call's own time.
  void charge_to_launch(int32_t operation, const Operation& row, Span gap) {
    if (gap.start >= gap.end) return;
    if (!row.blocking) return charge_launch(graph_, operation, gap, charges_);
    charge_host(graph_, graph_.calls[static_cast<size_t>(row.call)].thread, gap, charges_);
  }

  void charge(const Charge& charge) {
    if (charge.span.start < charge.span.end) charges_.push_back(charge);
  }

  const EventGraph& graph_;
  Time stop_;
  std::vector<Charge>& charges_;
};

Position last_position(const EventGraph& graph) {
  Position last;
  const auto consider = [&](bool on_host, int32_t index, Time time) {
    if (last.index < 0 || time > last.time) last = {on_host, index, time};
  };
  for (const HostThread& thread : graph.threads) {
    if (thread.nodes.end > thread.nodes.begin)
      consider(true, thread.nodes.end - 1, graph.nodes[static_cast<size_t>(thread.nodes.end) - 1].time);
  }
  for (size_t i = 0; i < graph.operations.size(); ++i)
    consider(false, static_cast<int32_t>(i), graph.operations[i].leave);
  return last;
}

}  // namespace

Time launch_time(const EventGraph& graph, const Operation& operation) {
  const Time node = graph.nodes[static_cast<size_t>(operation.launch)].time;
  const Time call = graph.calls[static_cast<size_t>(operation.call)].enter;
  return std::min(std::max(node, call), operation.enter);
}

Decisive decisive(const EventGraph& graph, int32_t operation) {
  const Operation& row = graph.operations[static_cast<size_t>(operation)];
  Decisive best;
  bool best_is_false = false;
  const int32_t first = graph.first_dependency[static_cast<size_t>(operation)];
  const int32_t last = graph.first_dependency[static_cast<size_t>(operation) + 1];
  for (int32_t i = first; i < last; ++i) {
    const Dependency& dependency = graph.dependencies[static_cast<size_t>(i)];
    const Time leave = graph.operations[static_cast<size_t>(dependency.operation)].leave;
    const Time time = std::min(leave, row.enter);
    const bool is_false = dependency.kind == DependencyKind::kQueue;
    if (best.dependency >= 0 && (time < best.time || (time == best.time && !best_is_false))) continue;
    best = {false, i, time};
    best_is_false = is_false;
  }
  if (row.launch < 0) return best;
  const Time launch = launch_time(graph, row);
  if (best.dependency < 0 || launch > best.time) best = {true, -1, launch};
  return best;
}

int32_t decisive_cause(const EventGraph& graph, const HostWait& wait) {
  if (wait.end <= wait.begin) return -1;
  int32_t best = -1;
  for (const int32_t cause : graph.causes_of(wait)) {
    if (best < 0 || graph.operations[static_cast<size_t>(cause)].leave >
                        graph.operations[static_cast<size_t>(best)].leave)
      best = cause;
  }
  return best;
}

std::vector<Charge> walk_from_end(const EventGraph& graph) {
  std::vector<Charge> charges;
  Walker(graph, graph.window.start, charges).walk(last_position(graph));
  return charges;
}

void walk_before(const EventGraph& graph, int32_t operation, Time stop, std::vector<Charge>& charges) {
  Walker walker(graph, stop, charges);
  walker.walk(walker.before(operation));
}

ChargeKind charge_kind(OperationKind kind) {
  switch (kind) {
    case OperationKind::kKernel: return ChargeKind::kKernel;
    case OperationKind::kCopy: return ChargeKind::kCopy;
    case OperationKind::kSet: return ChargeKind::kSet;
    case OperationKind::kHostFunction: break;
  }
  return ChargeKind::kHostFunction;
}

namespace {

std::string named(std::string_view name) { return std::string(name.empty() ? "<Unnamed>" : name); }

}  // namespace

std::string charge_name(const EventGraph& graph, ChargeKind kind, StringId name) {
  switch (kind) {
    case ChargeKind::kOther: return name == 0 ? "<Other>" : "<Other> in " + graph.trace->text(name);
    case ChargeKind::kProfiler: return "<Profiler overhead>";
    case ChargeKind::kLaunchLatency: return "<Launch latency>";
    case ChargeKind::kQueueGap: return "<Queue gap>";
    case ChargeKind::kUnknown: return "<Unknown>";
    case ChargeKind::kCall: return named(api_name(graph.trace->text(name)));
    default: return named(graph.trace->text(name));
  }
}

std::string_view charge_kind_name(ChargeKind kind) {
  switch (kind) {
    case ChargeKind::kCall: return "call";
    case ChargeKind::kOther: return "other";
    case ChargeKind::kProfiler: return "profiler";
    case ChargeKind::kKernel: return "kernel";
    case ChargeKind::kCopy: return "copy";
    case ChargeKind::kSet: return "set";
    case ChargeKind::kHostFunction: return "host_function";
    case ChargeKind::kLaunchLatency: return "launch_latency";
    case ChargeKind::kQueueGap: return "queue_gap";
    case ChargeKind::kUnknown: break;
  }
  return "unknown";
}

}  // namespace hone::analysis
