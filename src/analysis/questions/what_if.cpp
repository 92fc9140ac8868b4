// See what_if.hpp.
#include "analysis/questions/what_if.hpp"

#include <algorithm>
#include <map>

#include "analysis/graph/path_walk.hpp"
#include "analysis/names.hpp"
#include "analysis/schema/critical_path.hpp"
#include "base/error.hpp"

namespace hone::analysis {
namespace {

constexpr size_t kOperations = 8;
constexpr size_t kCalls = 4;

/// The keys with the largest times, largest first.
template <class Key>
std::vector<Key> largest(const std::map<Key, Time>& times, size_t count) {
  std::vector<std::pair<Time, Key>> sorted;
  for (const auto& [key, time] : times) {
    if (time > 0) sorted.emplace_back(-time, key);
  }
  std::sort(sorted.begin(), sorted.end());
  sorted.resize(std::min(sorted.size(), count));
  std::vector<Key> keys;
  for (const auto& entry : sorted) keys.push_back(entry.second);
  return keys;
}

using OperationName = std::pair<OperationKind, StringId>;

std::vector<OperationName> operations_on_path(const EventGraph& graph) {
  std::map<OperationName, Time> times;
  for (const Charge& charge : walk_from_end(graph)) {
    if (charge.operation < 0) continue;
    const Operation& operation = graph.operations[static_cast<size_t>(charge.operation)];
    const bool runs = charge.kind == charge_kind(operation.kind);
    // Host functions are the program's own code, about which the trace says nothing.
    if (!runs || operation.kind == OperationKind::kHostFunction) continue;
    times[{operation.kind, operation.name}] += charge.span.end - charge.span.start;
  }
  return largest(times, kOperations);
}

std::vector<StringId> waiting_calls(const EventGraph& graph) {
  std::map<StringId, Time> times;
  for (const HostWait& wait : graph.waits) {
    // A full queue is a property of the hardware, and waiting for another thread's work is usually necessary;
    // waiting for locks is not.
    if (wait.kind != WaitKind::kQueueFull && wait.kind != WaitKind::kThread)
      times[graph.call_name(wait.call)] += wait.end - wait.begin;
  }
  return largest(times, kCalls);
}

bool has_copies(const EventGraph& graph) {
  return std::any_of(graph.operations.begin(), graph.operations.end(),
                     [](const Operation& operation) { return operation.kind == OperationKind::kCopy; });
}

class Questions {
 public:
  explicit Questions(const EventGraph& graph) : graph_(graph), replay_(graph) {
    result_.wall = graph.window.end - graph.window.start;
    const Time unchanged = replay_.wall({});
    if (unchanged != result_.wall)
      fail_internal("the unchanged program replays in {} ns, but took {} ns", unchanged, result_.wall);
  }

  void ask_faster(const OperationName& operation, double factor) {
    Changes changes;
    changes.faster = {operation.first, operation.second, factor};
    add({ChangeKind::kFaster, graph_.trace->text(operation.second), factor}, changes);
  }
  void ask_overlap() {
    Changes changes;
    changes.overlap_copies = true;
    WhatIf row{ChangeKind::kOverlapCopies, "", 0};
    row.is_bound = true;
    add(row, changes);
  }
  void ask_no_wait(StringId call) {
    Changes changes;
    changes.without_waits = call;
    WhatIf row{ChangeKind::kNoWait, std::string(api_name(graph_.trace->text(call))), 0};
    row.is_bound = true;
    add(row, changes);
  }

  WhatIfs finish() {
    std::stable_sort(result_.rows.begin(), result_.rows.end(),
                     [](const WhatIf& a, const WhatIf& b) { return a.gain > b.gain; });
    return std::move(result_);
  }

 private:
  void add(WhatIf row, const Changes& changes) {
    row.wall = replay_.wall(changes);
    row.gain = result_.wall - row.wall;
    row.share = result_.wall > 0 ? static_cast<double>(row.gain) / static_cast<double>(result_.wall) : 0;
    result_.rows.push_back(std::move(row));
  }

  const EventGraph& graph_;
  Replay replay_;
  WhatIfs result_;
};

}  // namespace

WhatIfs what_if(const EventGraph& graph) {
  Questions questions(graph);
  for (const OperationName& operation : operations_on_path(graph)) {
    questions.ask_faster(operation, 2);
    questions.ask_faster(operation, 0);
  }
  if (has_copies(graph)) questions.ask_overlap();
  for (const StringId call : waiting_calls(graph)) questions.ask_no_wait(call);
  return questions.finish();
}

WhatIfs what_if(const trace::Trace& trace) { return what_if(build_event_graph(trace)); }

std::string_view change_kind_name(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kFaster: return "faster";
    case ChangeKind::kOverlapCopies: return "overlap_copies";
    case ChangeKind::kNoWait: break;
  }
  return "no_wait";
}

Json to_json(const WhatIfs& what_ifs) { return base::described_json(what_ifs); }

}  // namespace hone::analysis
