// See contract.hpp.
#include "analysis/graph/dependencies/contract.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/graph/dependencies/stream_state.hpp"

namespace hone::analysis::dependencies {
namespace {

using trace::EventRecord;
using trace::Synchronization;
using trace::SyncKind;

/// A call that ended at most this long after the last operation is assumed to have waited for it. Returning
/// from a wait takes 5 to 20 us, and freeing memory takes some more.
constexpr Time kImplicitTail = 100'000;
/// Tolerance if times are the only evidence: the rounding of files that hold microseconds.
constexpr Time kRounding = 1'000;

/// Steps of one call, in the order in which they take effect.
enum class StepKind : uint8_t { kOperation, kRecord, kStreamWait, kHostWait, kImplicit };

struct Step {
  Enqueued at;
  StepKind kind = StepKind::kOperation;
  int32_t index = -1;
};

class Contract {
 public:
  Contract(const EventGraph& graph, const StreamIndex& streams, const CallIndex& index,
           const GraphLaunches& launches, DependencyCollector& collector)
      : graph_(graph),
        trace_(*graph.trace),
        streams_(streams),
        index_(index),
        launches_(launches),
        collector_(collector),
        states_(graph, streams),
        before_launch_(launches.launches.size()),
        left_in_launch_(launches.launches.size(), 0) {
    for (size_t i = 0; i < left_in_launch_.size(); ++i)
      left_in_launch_[i] = static_cast<int32_t>(launches.launches[i].operations.size());
    result_.recorded.assign(graph.calls.size(), false);
    for (size_t i = 0; i < trace_.event_records.size(); ++i)
      records_by_id_.try_emplace(trace_.event_records[i].id, static_cast<int32_t>(i));
    marks_.resize(trace_.event_records.size());
    is_marked_.assign(trace_.event_records.size(), false);
  }

  HostCauses run(const std::vector<Enqueued>& enqueued, const std::vector<ApiRole>& roles) {
    for (const Step& step : steps(enqueued, roles)) take(step);
    return std::move(result_);
  }

 private:
  const Operation& operation(int32_t i) const { return graph_.operations[static_cast<size_t>(i)]; }
  const HostCall& call(int32_t i) const { return graph_.calls[static_cast<size_t>(i)]; }

  std::vector<Step> steps(const std::vector<Enqueued>& enqueued, const std::vector<ApiRole>& roles) {
    std::vector<Step> steps;
    steps.reserve(enqueued.size() + trace_.event_records.size() + trace_.synchronizations.size());
    for (size_t i = 0; i < enqueued.size(); ++i) {
      if (graph_.operations[i].stream >= 0)
        steps.push_back({enqueued[i], StepKind::kOperation, static_cast<int32_t>(i)});
    }
    const auto add = [&](StepKind kind, size_t i, int64_t correlation) {
      const int32_t by = index_.find(correlation);
      if (by < 0) return false;
      steps.push_back({{call(by).enter, by}, kind, static_cast<int32_t>(i)});
      return true;
    };
    for (size_t i = 0; i < trace_.event_records.size(); ++i)
      add(StepKind::kRecord, i, trace_.event_records[i].correlation);
    for (size_t i = 0; i < trace_.synchronizations.size(); ++i) {
      const Synchronization& row = trace_.synchronizations[i];
      const bool by_stream = row.kind == SyncKind::kStreamWaitEvent;
      if (!add(by_stream ? StepKind::kStreamWait : StepKind::kHostWait, i, row.correlation))
        ++result_.unresolved;
    }
    for (size_t i = 0; i < graph_.calls.size(); ++i) {
      if (roles[i] != ApiRole::kImplicit) continue;
      steps.push_back(
          {{graph_.calls[i].enter, static_cast<int32_t>(i)}, StepKind::kImplicit, static_cast<int32_t>(i)});
    }
    std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
      return std::tie(a.at, a.kind, a.index) < std::tie(b.at, b.kind, b.index);
    });
    return steps;
  }

  void take(const Step& step) {
    switch (step.kind) {
      case StepKind::kOperation: return add_operation(step.index);
      case StepKind::kRecord: return record_event(step.index);
      case StepKind::kStreamWait: return wait_in_stream(step.index);
      case StepKind::kHostWait: return wait_on_host(step.index, step.at.call);
      case StepKind::kImplicit: return wait_implicitly(step.index);
    }
  }

  void add_operation(int32_t i) {
    const int32_t stream = operation(i).stream;
    const int32_t launch = launches_.launch_of[static_cast<size_t>(i)];
    if (launch >= 0) begin_in_launch(i, launch);
    for (const int32_t before : states_.take_waits(stream)) collector_.add(i, before, DependencyKind::kEvent);
    for (const int32_t before : states_.default_stream_before(stream))
      collector_.add(i, before, DependencyKind::kDefaultStream);
    for (const int32_t before : states_.tails(stream)) add_stream_order(i, before);
    states_.add(stream, i);
    if (launch >= 0) end_in_launch(launch);
    remember_latest(i);
  }

  void add_stream_order(int32_t i, int32_t before) {
    const bool is_function = operation(i).kind == OperationKind::kHostFunction ||
                             operation(before).kind == OperationKind::kHostFunction;
    if (is_function) return collector_.add(i, before, DependencyKind::kHostFunction, true);
    const int32_t launch = launches_.launch_of[static_cast<size_t>(i)];
    // Inside a graph only its edges define an order; the driver chooses which branches share a stream.
    const bool chosen = launch >= 0 && launch == launches_.launch_of[static_cast<size_t>(before)] &&
                        launches_.launches[static_cast<size_t>(launch)].edges_known;
    if (chosen && operation(before).leave > operation(i).enter) return;
    collector_.add(i, before, chosen ? DependencyKind::kQueue : DependencyKind::kStreamOrder);
  }

  /// A graph as a whole waits for earlier work in the stream of its launch, and later work waits for the
  /// graph.
  void begin_in_launch(int32_t i, int32_t number) {
    const GraphLaunch& launch = launches_.launches[static_cast<size_t>(number)];
    if (launch.stream < 0) return;
    std::vector<int32_t>& before = before_launch_[static_cast<size_t>(number)];
    if (left_in_launch_[static_cast<size_t>(number)] == static_cast<int32_t>(launch.operations.size()))
      before = states_.tails(launch.stream);
    if (!launches_.is_root[static_cast<size_t>(i)] || operation(i).stream == launch.stream) return;
    for (const int32_t tail : before) collector_.add(i, tail, DependencyKind::kStreamOrder);
  }

  void end_in_launch(int32_t number) {
    const GraphLaunch& launch = launches_.launches[static_cast<size_t>(number)];
    if (--left_in_launch_[static_cast<size_t>(number)] > 0 || launch.stream < 0) return;
    states_.set_tails(launch.stream, launch.leaves);
  }

  void remember_latest(int32_t i) {
    const int32_t device = operation(i).device;
    if (device < 0) return;
    const auto [found, is_new] = latest_of_device_.try_emplace(device, i);
    if (!is_new && operation(i).leave > operation(found->second).leave) found->second = i;
  }

  void record_event(int32_t i) {
    const EventRecord& record = trace_.event_records[static_cast<size_t>(i)];
    const int32_t stream = streams_.find(record.device, record.context, record.stream);
    if (stream >= 0) marks_[static_cast<size_t>(i)] = states_.completion(stream);
    is_marked_[static_cast<size_t>(i)] = true;
    last_record_[record.event] = i;
  }

  /// Returns the event record that a wait refers to; -1 if it is not in the trace.
  int32_t find_record(const Synchronization& row) {
    if (row.event_record != trace::kNone) {
      const auto found = records_by_id_.find(row.event_record);
      if (found != records_by_id_.end() && is_marked_[static_cast<size_t>(found->second)])
        return found->second;
    } else if (row.event != trace::kNone) {
      const auto found = last_record_.find(row.event);
      if (found != last_record_.end()) return found->second;
    }
    ++result_.unresolved;
    return -1;
  }

  void wait_in_stream(int32_t i) {
    const Synchronization& row = trace_.synchronizations[static_cast<size_t>(i)];
    const int32_t record = find_record(row);
    if (record < 0) return;
    const EventRecord& recorded = trace_.event_records[static_cast<size_t>(record)];
    // Operations of one stream run in order in any case.
    if (recorded.stream == row.stream && recorded.context == row.context) return;
    const int32_t stream = streams_.find(row.device, row.context, row.stream);
    const int32_t context = streams_.find_context(row.context);
    const bool is_default = streams_.kind(row.context, row.stream) == trace::StreamKind::kNull;
    for (const int32_t mark : marks_[static_cast<size_t>(record)]) {
      if (is_default && context >= 0) {
        states_.wait_in_default_stream(context, mark);
      } else if (stream >= 0) {
        states_.wait(stream, mark);
      }
    }
  }

  void wait_on_host(int32_t i, int32_t by) {
    const Synchronization& row = trace_.synchronizations[static_cast<size_t>(i)];
    if (row.kind == SyncKind::kEventSynchronize) return wait_for_event(row, by);
    if (row.kind == SyncKind::kStreamSynchronize) {
      if (row.stream == trace::kNone) return;
      const int32_t stream = streams_.find(row.device, row.context, row.stream);
      return add_causes(by, stream >= 0 ? states_.completion(stream) : std::vector<int32_t>{},
                        WaitKind::kStream);
    }
    const int32_t context = streams_.find_context(row.context);
    if (context < 0) return;
    add_causes(by, states_.added_since(context, call(by).thread), WaitKind::kContext);
  }

  void wait_for_event(const Synchronization& row, int32_t by) {
    const int32_t record = find_record(row);
    if (record >= 0) add_causes(by, marks_[static_cast<size_t>(record)], WaitKind::kEvent);
  }

  void add_causes(int32_t by, const std::vector<int32_t>& operations, WaitKind kind) {
    result_.recorded[static_cast<size_t>(by)] = true;
    for (const int32_t cause : operations) result_.causes.push_back({by, cause, kind, false});
  }

  /// The wait is assumed only if the times show it (R10): all work given to the device ended during the call,
  /// and the call ended soon after it.
  void wait_implicitly(int32_t by) {
    const HostCall& row = call(by);
    int32_t cause = -1;
    for (const auto& [device, last] : latest_of_device_) {
      const Time leave = operation(last).leave;
      if (operation(last).enter >= row.leave || leave <= row.enter || leave > row.leave + kRounding ||
          row.leave - leave > kImplicitTail)
        continue;
      if (cause < 0 || leave > operation(cause).leave) cause = last;
    }
    if (cause >= 0) result_.causes.push_back({by, cause, WaitKind::kImplicit, true});
  }

  const EventGraph& graph_;
  const trace::Trace& trace_;
  const StreamIndex& streams_;
  const CallIndex& index_;
  const GraphLaunches& launches_;
  DependencyCollector& collector_;
  StreamStates states_;
  std::vector<std::vector<int32_t>> before_launch_;
  std::vector<int32_t> left_in_launch_;
  std::map<int32_t, int32_t> latest_of_device_;  ///< of the operations so far, the one that ends last
  std::unordered_map<int64_t, int32_t> records_by_id_;
  std::unordered_map<int64_t, int32_t> last_record_;  ///< by event
  std::vector<std::vector<int32_t>> marks_;           ///< for each record, the operations that it follows
  std::vector<bool> is_marked_;
  HostCauses result_;
};

}  // namespace

HostCauses follow_contract(const EventGraph& graph, const StreamIndex& streams, const CallIndex& index,
                           const std::vector<Enqueued>& enqueued, const std::vector<ApiRole>& roles,
                           const GraphLaunches& launches, DependencyCollector& collector) {
  return Contract(graph, streams, index, launches, collector).run(enqueued, roles);
}

}  // namespace hone::analysis::dependencies
