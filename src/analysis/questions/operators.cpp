// See operators.hpp.
#include "analysis/questions/operators.hpp"

#include <algorithm>
#include <map>

#include "analysis/joins.hpp"
#include "analysis/questions/tensor_cores.hpp"
#include "analysis/schema/operators.hpp"

namespace hone::analysis {
namespace {

using trace::HostEvent;
using trace::Trace;

/// The cost of one call of an operator, ns.
struct Cost {
  Time host_self = 0;
  Time device_self = 0;
  Time device_total = 0;
  Time device_tensor = 0;
};

bool takes_host_time(const HostEvent& event) { return is_operator(event) || is_api_call(event); }

Span span_of(const HostEvent& event) { return {event.start, event.end}; }

class Builder {
 public:
  Builder(const Trace& trace, Span window, bool by_input_shapes)
      : trace_(trace),
        window_(window),
        by_input_shapes_(by_input_shapes),
        around_(enclosing_events(trace, is_operator)),
        costs_(trace.host_events.size()) {}

  OperatorTable build() {
    OperatorTable table{window_, {}, 0, 0};
    add_host_times();
    add_device_times(&table);
    add_up_device_totals();
    collect_rows(&table);
    return table;
  }

 private:
  /// Subtracts the time of events directly inside an operator. Events on the same level do not overlap, or
  /// one would be inside the other.
  void add_host_times() {
    const HostIndices directly = enclosing_events(trace_, takes_host_time);
    for (size_t i = 0; i < costs_.size(); ++i) {
      const HostEvent& event = trace_.host_events[i];
      if (is_operator(event)) costs_[i].host_self += length(span_of(event));
      if (directly[i] < 0 || !takes_host_time(event)) continue;
      const HostEvent& outer = trace_.host_events[static_cast<size_t>(directly[i])];
      costs_[static_cast<size_t>(directly[i])].host_self -= length(overlap(span_of(event), span_of(outer)));
    }
  }

  void add_device_times(OperatorTable* table) {
    const HostIndices calls = launching_calls(trace_);
    const HostIndices operators = calling_operators(trace_, around_);
    TensorCores tensor_cores(trace_);
    for (size_t i = 0; i < calls.size(); ++i) {
      const trace::DeviceEvent& event = trace_.device_events[i];
      const Time duration = event.end - event.start;
      const int32_t caller = calls[i] < 0 ? -1 : operators[static_cast<size_t>(calls[i])];
      if (caller < 0) {
        const bool inside = event.start >= window_.start && event.start < window_.end;
        table->unjoined_events += inside ? 1 : 0;
        table->unjoined_time += inside ? duration : 0;
        continue;
      }
      Cost& cost = costs_[static_cast<size_t>(caller)];
      cost.device_self += duration;
      if (event.kind != trace::DeviceKind::kKernel) continue;
      if (tensor_cores.of(event).uses) cost.device_tensor += duration;
    }
  }

  /// Outer operators come before inner ones, so the loop goes backward to visit the inner ones first.
  void add_up_device_totals() {
    for (size_t i = costs_.size(); i-- > 0;) {
      costs_[i].device_total += costs_[i].device_self;
      if (around_[i] >= 0 && is_operator(trace_.host_events[i]))
        costs_[static_cast<size_t>(around_[i])].device_total += costs_[i].device_total;
    }
  }

  using Key = std::pair<trace::StringId, trace::StringId>;
  Key key_of(size_t i) const {
    const HostEvent& event = trace_.host_events[i];
    const bool shaped = by_input_shapes_ && event.detail >= 0;
    return {event.name, shaped ? trace_.operators[static_cast<size_t>(event.detail)].input_shapes : 0};
  }

  /// A row, and the number of its calls that enclose the current event.
  struct Row {
    OperatorRow figures;
    int open = 0;
  };

  void add_call(size_t i, Row* row) const {
    const HostEvent& event = trace_.host_events[i];
    if (event.start < window_.start || event.start >= window_.end) return;
    ++row->figures.calls;
    row->figures.host_self += costs_[i].host_self;
    row->figures.device_self += costs_[i].device_self;
    row->figures.device_tensor += costs_[i].device_tensor;
    if (row->open > 0) return;
    row->figures.host_total += length(span_of(event));
    row->figures.device_total += costs_[i].device_total;
  }

  void collect_rows(OperatorTable* table) {
    std::map<Key, Row> rows;
    std::vector<std::pair<int32_t, Row*>> open;  // the operators that enclose the current one
    for (size_t i = 0; i < costs_.size(); ++i) {
      if (!is_operator(trace_.host_events[i])) continue;
      for (; !open.empty() && open.back().first != around_[i]; open.pop_back()) --open.back().second->open;
      Row& row = rows[key_of(i)];
      add_call(i, &row);
      ++row.open;
      open.emplace_back(static_cast<int32_t>(i), &row);
    }
    for (auto& [key, row] : rows) {
      if (row.figures.calls == 0) continue;
      row.figures.name = trace_.text(key.first);
      row.figures.input_shapes = trace_.text(key.second);
      row.figures.tensor_core_eligible = is_tensor_core_eligible(row.figures.name);
      table->rows.push_back(std::move(row.figures));
    }
    std::stable_sort(table->rows.begin(), table->rows.end(), [](const OperatorRow& a, const OperatorRow& b) {
      return std::pair(a.device_self, a.host_self) > std::pair(b.device_self, b.host_self);
    });
  }

  const Trace& trace_;
  Span window_;
  bool by_input_shapes_;
  HostIndices around_;
  std::vector<Cost> costs_;  // for host events; zeros if they are not operators
};

}  // namespace

OperatorTable tabulate_operators(const Trace& trace, Span window, bool by_input_shapes) {
  return Builder(trace, window, by_input_shapes).build();
}

Json to_json(const OperatorTable& table) { return base::described_json(table); }

}  // namespace hone::analysis
