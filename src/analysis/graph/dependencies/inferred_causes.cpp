// See inferred_causes.hpp.
#include "analysis/graph/dependencies/inferred_causes.hpp"

#include <algorithm>
#include <tuple>

#include "analysis/graph/dependencies/queues.hpp"

namespace hone::analysis::dependencies {
namespace {

using trace::HostEvent;
using trace::MemoryKind;

/// Tolerance for a copy that seems to end after the call that waited for it, because of clock errors.
constexpr Time kCopyTolerance = 1'000;

bool is_fixed_memory(MemoryKind kind) {
  return kind == MemoryKind::kPinned || kind == MemoryKind::kDevice || kind == MemoryKind::kArray;
}

bool may_block(const EventGraph& graph, const Operation& operation) {
  if (operation.kind != OperationKind::kCopy && operation.kind != OperationKind::kSet) return false;
  const trace::DeviceEvent& event = graph.trace->device_events[static_cast<size_t>(operation.event)];
  // A graph launch does not wait for copies in the graph.
  if (event.graph_node != trace::kNone || event.graph != trace::kNone) return false;
  if (event.detail < 0) return true;
  const trace::Transfer& transfer = graph.trace->transfers[static_cast<size_t>(event.detail)];
  if (transfer.direction == trace::CopyDirection::kDeviceToDevice) return false;
  return !(transfer.asynchronous && is_fixed_memory(transfer.source) &&
           is_fixed_memory(transfer.destination));
}

const HostEvent& event_of(const EventGraph& graph, int32_t call) {
  return graph.trace->host_events[static_cast<size_t>(graph.calls[static_cast<size_t>(call)].event)];
}

class FullQueues {
 public:
  explicit FullQueues(const EventGraph& graph) : graph_(graph), queue_of_(hardware_queues(graph)) {
    launched_.assign(graph.calls.size(), -1);
    for (size_t i = 0; i < graph.operations.size(); ++i) {
      const int32_t queue = queue_of_[i];
      if (queue < 0) continue;
      if (static_cast<size_t>(queue) >= queues_.size()) queues_.resize(static_cast<size_t>(queue) + 1);
      queues_[static_cast<size_t>(queue)].push_back(static_cast<int32_t>(i));
      const int32_t call = graph.operations[i].call;
      if (call >= 0 && launched_[static_cast<size_t>(call)] < 0)
        launched_[static_cast<size_t>(call)] = static_cast<int32_t>(i);
    }
  }

  /// Returns a negative call if no launch was in progress.
  FullQueue explain(const HostEvent& event) const {
    const HostThread& thread = graph_.threads[static_cast<size_t>(event.thread)];
    const auto first = graph_.calls.begin() + thread.calls.begin;
    const auto after = std::partition_point(first, graph_.calls.begin() + thread.calls.end,
                                            [&](const HostCall& call) { return call.enter <= event.start; });
    if (after == first || (after - 1)->leave < event.end) return {};
    const auto call = static_cast<int32_t>(after - 1 - graph_.calls.begin());
    const int32_t operation = launched_[static_cast<size_t>(call)];
    if (operation < 0) return {};
    const int32_t cause = last_done(operation, event.end);
    if (cause < 0) return {};
    return {event.start, {call, cause, WaitKind::kQueueFull, true}};
  }

 private:
  /// Returns the last operation in the queue of the launched operation that had ended when the launch
  /// resumed.
  int32_t last_done(int32_t launched, Time resumed) const {
    const std::vector<int32_t>& queue =
        queues_[static_cast<size_t>(queue_of_[static_cast<size_t>(launched)])];
    const auto end = std::lower_bound(queue.begin(), queue.end(), launched);
    // Operations of a queue end in order, except that neighbours may overlap.
    const auto after = std::partition_point(queue.begin(), end, [&](int32_t i) {
      return graph_.operations[static_cast<size_t>(i)].leave <= resumed + kCopyTolerance;
    });
    return after == queue.begin() ? -1 : *(after - 1);
  }

  const EventGraph& graph_;
  std::vector<int32_t> queue_of_;
  std::vector<std::vector<int32_t>> queues_;
  std::vector<int32_t> launched_;  ///< the first operation of every call
};

}  // namespace

std::vector<int32_t> find_polls(const EventGraph& graph, const std::vector<ApiRole>& roles) {
  std::vector<int32_t> polls(graph.calls.size(), -1);
  for (const HostThread& thread : graph.threads) {
    int32_t first = -1;
    for (int32_t i = thread.calls.begin; i < thread.calls.end; ++i) {
      if (roles[static_cast<size_t>(i)] != ApiRole::kQuery) {
        first = -1;
        continue;
      }
      if (first < 0) first = i;
      if (event_of(graph, i).result != 0) continue;
      polls[static_cast<size_t>(i)] = first;
      first = -1;
    }
  }
  return polls;
}

void infer_blocking_copies(const EventGraph& graph, std::vector<Cause>& causes) {
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    const Operation& operation = graph.operations[i];
    if (operation.call < 0 || !may_block(graph, operation)) continue;
    const HostCall& call = graph.calls[static_cast<size_t>(operation.call)];
    if (call.leave < operation.leave - kCopyTolerance || operation.leave <= call.enter) continue;
    causes.push_back({operation.call, static_cast<int32_t>(i), WaitKind::kBlockingCopy, false});
  }
}

void infer_synchronizations(const EventGraph& graph, const std::vector<Enqueued>& enqueued,
                            const std::vector<ApiRole>& roles, const std::vector<int32_t>& polls,
                            const std::vector<bool>& recorded, std::vector<Cause>& causes) {
  std::vector<int32_t> unknown;
  for (size_t i = 0; i < graph.calls.size(); ++i) {
    if (recorded[i]) continue;
    const bool polled = polls[i] >= 0 && polls[i] != static_cast<int32_t>(i);
    if (roles[i] == ApiRole::kSynchronize || polled) unknown.push_back(static_cast<int32_t>(i));
  }
  if (unknown.empty()) return;
  const EndIndex ends(graph);
  for (const int32_t i : unknown) {
    const int32_t poll = polls[static_cast<size_t>(i)];
    const int32_t first = poll >= 0 ? poll : i;
    const Time begin = graph.calls[static_cast<size_t>(first)].enter;
    const Time end = graph.calls[static_cast<size_t>(i)].leave;
    const int32_t cause = ends.last_in(begin, end + kTolerance, [&](int32_t operation) {
      return enqueued[static_cast<size_t>(operation)] < Enqueued{begin, first};
    });
    const WaitKind kind = poll >= 0 ? WaitKind::kPoll : WaitKind::kSynchronize;
    if (cause >= 0) causes.push_back({i, cause, kind, true});
  }
}

std::vector<FullQueue> infer_full_queues(const EventGraph& graph) {
  const trace::Trace& trace = *graph.trace;
  std::vector<bool> is_full(trace.strings.size(), false);
  bool any = false;
  for (StringId name = 0; name < trace.strings.size(); ++name)
    any |= is_full[name] = is_queue_full(trace.text(name));
  std::vector<FullQueue> found;
  if (!any) return found;
  const FullQueues queues(graph);
  for (const HostEvent& event : trace.host_events) {
    if (event.kind != trace::HostKind::kOverhead || !is_full[event.name]) continue;
    const FullQueue full = queues.explain(event);
    if (full.cause.call >= 0) found.push_back(full);
  }
  std::sort(found.begin(), found.end(), [](const FullQueue& a, const FullQueue& b) {
    return std::tie(a.cause.call, a.begin) < std::tie(b.cause.call, b.begin);
  });
  return found;
}

}  // namespace hone::analysis::dependencies
