// See joins.hpp.
#include "analysis/joins.hpp"

#include <algorithm>
#include <utility>

namespace hone::analysis {
namespace {

using trace::HostEvent;
using trace::HostKind;
using trace::Trace;

/// Maps ids to the first event that has it.
class IdMap {
 public:
  void add(int64_t id, size_t index) { entries_.emplace_back(id, static_cast<int32_t>(index)); }
  void finish() {
    std::sort(entries_.begin(), entries_.end());
    if (!entries_.empty()) make_dense();
  }
  int32_t find(int64_t id) const {
    if (!dense_.empty()) {
      const int64_t offset = id - entries_.front().first;
      return offset < 0 || offset >= static_cast<int64_t>(dense_.size())
                 ? -1
                 : dense_[static_cast<size_t>(offset)];
    }
    const auto found =
        std::lower_bound(entries_.begin(), entries_.end(), std::pair<int64_t, int32_t>{id, -1});
    return found == entries_.end() || found->first != id ? -1 : found->second;
  }

 private:
  /// Ids usually count up, so an array finds them directly.
  void make_dense() {
    const auto range =
        static_cast<uint64_t>(entries_.back().first) - static_cast<uint64_t>(entries_.front().first);
    if (range >= 8 * entries_.size()) return;
    dense_.assign(static_cast<size_t>(range) + 1, -1);
    for (size_t i = entries_.size(); i-- > 0;)
      dense_[static_cast<size_t>(entries_[i].first - entries_.front().first)] = entries_[i].second;
  }

  std::vector<std::pair<int64_t, int32_t>> entries_;
  std::vector<int32_t> dense_;
};

}  // namespace

bool is_operator(const HostEvent& event) { return event.kind == HostKind::kOperator; }

bool is_api_call(const HostEvent& event) {
  return event.kind == HostKind::kRuntimeApi || event.kind == HostKind::kDriverApi;
}

HostIndices launching_calls(const Trace& trace) {
  IdMap calls;
  // Outer host events of a thread come before inner ones, so the first event of a correlation is the outer
  // one.
  for (size_t i = 0; i < trace.host_events.size(); ++i) {
    const HostEvent& event = trace.host_events[i];
    if (is_api_call(event) && event.correlation != trace::kNone) calls.add(event.correlation, i);
  }
  calls.finish();
  HostIndices result(trace.device_events.size(), -1);
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t correlation = trace.device_events[i].correlation;
    if (correlation != trace::kNone) result[i] = calls.find(correlation);
  }
  return result;
}

HostIndices enclosing_events(const Trace& trace, const std::function<bool(const HostEvent&)>& wanted) {
  HostIndices result(trace.host_events.size(), -1);
  HostIndices open;  // nested, the innermost last
  int32_t thread = -1;
  for (size_t i = 0; i < trace.host_events.size(); ++i) {
    const HostEvent& event = trace.host_events[i];
    if (event.thread != thread) open.clear();
    thread = event.thread;
    const auto ended = [&](int32_t index) {
      const HostEvent& other = trace.host_events[static_cast<size_t>(index)];
      // An event of zero length at the end of another one is still inside it.
      return other.end < event.start || (other.end == event.start && event.end > event.start);
    };
    while (!open.empty() && ended(open.back())) open.pop_back();
    if (!open.empty()) result[i] = open.back();
    if (wanted(event)) open.push_back(static_cast<int32_t>(i));
  }
  return result;
}

HostIndices calling_operators(const Trace& trace, const HostIndices& around) {
  IdMap operators;
  for (size_t i = 0; i < trace.host_events.size(); ++i) {
    const HostEvent& event = trace.host_events[i];
    if (is_operator(event) && event.external_id > 0) operators.add(event.external_id, i);
  }
  operators.finish();
  HostIndices result(trace.host_events.size(), -1);
  for (size_t i = 0; i < result.size(); ++i) {
    const HostEvent& event = trace.host_events[i];
    if (!is_api_call(event)) continue;
    // Kineto writes 0 for calls outside operators; other files leave the id out.
    const int32_t named = event.external_id > 0 ? operators.find(event.external_id) : -1;
    result[i] = named >= 0 ? named : around[i];
  }
  return result;
}

}  // namespace hone::analysis
