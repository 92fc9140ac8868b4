// See host_charges.hpp.
#include "analysis/graph/host_charges.hpp"

#include <algorithm>

namespace hone::analysis {
namespace {

/// Walks backward over the intervals of one thread, which do not overlap.
template <class Row, class Begin>
class Cursor {
 public:
  Cursor(const std::vector<Row>& rows, Range range, Time before, Begin begin)
      : rows_(rows), first_(range.begin), begin_(begin) {
    const auto from = rows.begin() + range.begin;
    at_ = static_cast<int32_t>(std::partition_point(from, rows.begin() + range.end,
                                                    [&](const Row& row) { return begin(row) < before; }) -
                               rows.begin());
  }

  /// The last row that begins before `time`; null if there is none. `time` must not increase between calls.
  const Row* before(Time time) {
    while (at_ > first_ && begin_(rows_[static_cast<size_t>(at_) - 1]) >= time) --at_;
    return at_ > first_ ? &rows_[static_cast<size_t>(at_) - 1] : nullptr;
  }

 private:
  const std::vector<Row>& rows_;
  int32_t first_;
  int32_t at_ = 0;
  Begin begin_;
};

template <class Row, class Begin>
Cursor(const std::vector<Row>&, Range, Time, Begin) -> Cursor<Row, Begin>;

Time start_of(const Span& span) { return span.start; }

}  // namespace

void charge_host(const EventGraph& graph, int32_t thread, Span span, std::vector<Charge>& charges) {
  const HostThread& row = graph.threads[static_cast<size_t>(thread)];
  Cursor overheads(graph.overheads, row.overheads, span.end, start_of);
  Cursor calls(graph.calls, row.calls, span.end, [](const HostCall& call) { return call.enter; });
  Cursor ranges(graph.range_starts, row.ranges, span.end,
                [](const RangeStart& range) { return range.start; });
  Time time = span.end;
  const auto charge = [&](Time from, ChargeKind kind, StringId name) {
    from = std::max(from, span.start);
    charges.push_back({{from, time}, kind, name, thread, -1});
    time = from;
  };
  while (time > span.start) {
    const Span* overhead = overheads.before(time);
    if (overhead != nullptr && overhead->end >= time) {
      charge(overhead->start, ChargeKind::kProfiler, 0);
      continue;
    }
    Time from = overhead == nullptr ? span.start : overhead->end;
    const HostCall* call = calls.before(time);
    if (call != nullptr && call->leave >= time) {
      const auto number = static_cast<int32_t>(call - graph.calls.data());
      charge(std::max(from, call->enter), ChargeKind::kCall, graph.call_name(number));
      continue;
    }
    if (call != nullptr) from = std::max(from, call->leave);
    const RangeStart* range = ranges.before(time);
    if (range == nullptr) {
      charge(from, ChargeKind::kOther, 0);
    } else {
      charge(std::max(from, range->start), ChargeKind::kOther, range->name);
    }
  }
}

void charge_launch(const EventGraph& graph, int32_t operation, Span span, std::vector<Charge>& charges) {
  const HostCall& call =
      graph.calls[static_cast<size_t>(graph.operations[static_cast<size_t>(operation)].call)];
  const HostThread& row = graph.threads[static_cast<size_t>(call.thread)];
  Cursor overheads(graph.overheads, row.overheads, span.end, start_of);
  Time time = span.end;
  const auto charge = [&](Time from, ChargeKind kind, int32_t about) {
    if (from >= time) return;
    charges.push_back({{from, time}, kind, 0, call.thread, about});
    time = from;
  };
  while (time > span.start) {
    const Span* overhead = overheads.before(std::min(time, call.leave));
    const Time end = overhead == nullptr ? span.start : std::min(overhead->end, call.leave);
    if (end <= span.start) break;
    charge(end, ChargeKind::kLaunchLatency, operation);
    charge(std::max(overhead->start, span.start), ChargeKind::kProfiler, -1);
  }
  charge(span.start, ChargeKind::kLaunchLatency, operation);
}

}  // namespace hone::analysis
