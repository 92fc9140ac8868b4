// See host_waits.hpp.
#include "analysis/graph/dependencies/host_waits.hpp"

#include <algorithm>

#include "analysis/graph/dependencies/inferred_causes.hpp"

namespace hone::analysis::dependencies {
namespace {

class WaitBuilder {
 public:
  explicit WaitBuilder(EventGraph& graph) : graph_(graph) {}

  /// Adds a wait with the causes of one call. `first` is the call, or the first of a series of polls, in
  /// which the wait began.
  void add(int32_t first, Time begin, Time end, std::span<const Cause> causes) {
    HostWait wait;
    wait.begin = begin;
    wait.call = first;
    wait.first_cause = static_cast<int32_t>(graph_.causes.size());
    Time last = begin;
    bool inferred = true;
    for (const Cause& cause : causes) {
      const Operation& operation = graph_.operations[static_cast<size_t>(cause.operation)];
      const bool runs_on = operation.leave > end;
      if (operation.leave > end + kTolerance || (runs_on && operation.enter >= end)) {
        ++counts_.contradicted;
        continue;
      }
      graph_.causes.push_back(cause.operation);
      inferred = inferred && cause.inferred;
      if (operation.leave < last) continue;
      last = operation.leave;
      wait.kind = cause.kind;
    }
    wait.cause_count = static_cast<int32_t>(graph_.causes.size()) - wait.first_cause;
    if (wait.cause_count == 0) return;
    wait.end = std::min(last, end);
    wait.inferred = inferred;
    if (inferred) ++counts_.inferred;
    graph_.waits.push_back(wait);
  }

  WaitCounts counts() const { return counts_; }

 private:
  EventGraph& graph_;
  WaitCounts counts_;
};

/// A query that fails does not wait.
void keep_successful_polls(const std::vector<ApiRole>& roles, const std::vector<int32_t>& polls,
                           std::vector<Cause>& causes) {
  std::erase_if(causes, [&](const Cause& cause) {
    const auto call = static_cast<size_t>(cause.call);
    return roles[call] == ApiRole::kQuery && polls[call] < 0;
  });
  for (Cause& cause : causes) {
    if (roles[static_cast<size_t>(cause.call)] == ApiRole::kQuery) cause.kind = WaitKind::kPoll;
  }
}

}  // namespace

WaitCounts add_host_waits(EventGraph& graph, const std::vector<Enqueued>& enqueued,
                          const std::vector<ApiRole>& roles, const HostCauses& contract) {
  const std::vector<int32_t> polls = find_polls(graph, roles);
  std::vector<Cause> causes = contract.causes;
  keep_successful_polls(roles, polls, causes);
  infer_blocking_copies(graph, causes);
  infer_synchronizations(graph, enqueued, roles, polls, contract.recorded, causes);
  std::stable_sort(causes.begin(), causes.end(),
                   [](const Cause& a, const Cause& b) { return a.call < b.call; });

  WaitBuilder builder(graph);
  std::vector<bool> waits(graph.calls.size(), false);
  for (size_t first = 0; first < causes.size();) {
    const int32_t call = causes[first].call;
    size_t last = first;
    while (last < causes.size() && causes[last].call == call) ++last;
    const int32_t poll = polls[static_cast<size_t>(call)];
    const int32_t begin = poll >= 0 ? poll : call;
    builder.add(begin, graph.calls[static_cast<size_t>(begin)].enter,
                graph.calls[static_cast<size_t>(call)].leave, std::span(causes).subspan(first, last - first));
    waits[static_cast<size_t>(begin)] = true;
    first = last;
  }
  for (const FullQueue& full : infer_full_queues(graph)) {
    const auto call = static_cast<size_t>(full.cause.call);
    if (waits[call]) continue;
    waits[call] = true;
    builder.add(full.cause.call, full.begin, graph.calls[call].leave, {&full.cause, 1});
  }
  std::sort(graph.waits.begin(), graph.waits.end(),
            [](const HostWait& a, const HostWait& b) { return a.call < b.call; });
  for (const HostWait& wait : graph.waits) {
    if (wait.end <= wait.begin) continue;
    for (const int32_t cause : graph.causes_of(wait)) {
      Operation& operation = graph.operations[static_cast<size_t>(cause)];
      operation.blocking = operation.blocking || operation.call == wait.call;
    }
  }
  return builder.counts();
}

}  // namespace hone::analysis::dependencies
