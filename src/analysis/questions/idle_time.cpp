// See idle_time.hpp.
#include "analysis/questions/idle_time.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/schema/idle_time.hpp"
#include "base/error.hpp"

namespace hone::analysis {
namespace {

std::map<int32_t, Span> device_extents(const EventGraph& graph) {
  std::map<int32_t, Span> extents;
  for (const Operation& operation : graph.operations) {
    if (operation.device < 0) continue;
    const auto [found, is_new] =
        extents.try_emplace(operation.device, Span{operation.enter, operation.leave});
    if (!is_new) found->second.end = std::max(found->second.end, operation.leave);
  }
  return extents;
}

IdleCause cause_of(ChargeKind kind) {
  switch (kind) {
    case ChargeKind::kCall: return IdleCause::kHostCall;
    case ChargeKind::kOther: return IdleCause::kHostOther;
    case ChargeKind::kProfiler: return IdleCause::kProfiler;
    case ChargeKind::kKernel:
    case ChargeKind::kCopy:
    case ChargeKind::kSet: return IdleCause::kOtherDevice;
    case ChargeKind::kHostFunction: return IdleCause::kHostFunction;
    case ChargeKind::kLaunchLatency: return IdleCause::kLaunchLatency;
    case ChargeKind::kQueueGap: return IdleCause::kQueueGap;
    case ChargeKind::kUnknown: break;
  }
  return IdleCause::kUnknown;
}

/// Accounts the idle time of one device inside its span.
class Account {
 public:
  Account(const EventGraph& graph, int32_t device, Span span) : graph_(graph) {
    result_.device = device;
    result_.span = span;
  }

  void add_gap(Span gap, const std::vector<Charge>& charges) {
    if (!count_gap(gap)) return;
    for (const Charge& charge : charges) {
      if (clipped(charge.span) == 0) continue;
      const auto key = static_cast<uint64_t>(charge.kind) << 32 | charge.name;
      IdleRow& row = add(key, cause_of(charge.kind), clipped(charge.span));
      if (row.name.empty()) row.name = charge_name(graph_, charge.kind, charge.name);
    }
  }

  void add_edge(IdleCause cause, const char* name, Span gap) {
    if (count_gap(gap)) add(static_cast<uint64_t>(cause) << 40, cause, clipped(gap)).name = name;
  }

  DeviceIdle finish() {
    const Time length = result_.span.end - result_.span.start;
    result_.busy = length - result_.idle;
    Time explained = 0;
    for (IdleRow& row : result_.rows) {
      explained += row.time;
      row.share = length > 0 ? static_cast<double>(row.time) / static_cast<double>(length) : 0;
    }
    if (explained != result_.idle)
      fail_internal("device {} was idle for {} ns, of which {} ns are explained", result_.device,
                    result_.idle, explained);
    std::sort(result_.rows.begin(), result_.rows.end(), [](const IdleRow& a, const IdleRow& b) {
      return std::tie(b.time, a.name) < std::tie(a.time, b.name);
    });
    return std::move(result_);
  }

 private:
  Time clipped(Span span) const {
    return std::max<Time>(0, std::min(span.end, result_.span.end) - std::max(span.start, result_.span.start));
  }

  /// Returns false if no part of it is inside the span.
  bool count_gap(Span gap) {
    const Time length = clipped(gap);
    if (length == 0) return false;
    result_.idle += length;
    ++result_.gaps;
    result_.longest = std::max(result_.longest, length);
    return true;
  }

  IdleRow& add(uint64_t key, IdleCause cause, Time time) {
    const auto [found, is_new] = rows_.try_emplace(key, result_.rows.size());
    if (is_new) {
      result_.rows.push_back({cause, {}, 0, 0, 0});
      last_gap_.push_back(0);
    }
    IdleRow& row = result_.rows[found->second];
    row.time += time;
    if (std::exchange(last_gap_[found->second], result_.gaps) != result_.gaps) ++row.gaps;
    return row;
  }

  const EventGraph& graph_;
  DeviceIdle result_;
  std::unordered_map<uint64_t, size_t> rows_;
  std::vector<int64_t> last_gap_;  ///< for each row, the number of the last gap to which it contributed
};

}  // namespace

void visit_idle(const EventGraph& graph,
                const std::function<void(int32_t device, Span gap, const std::vector<Charge>&)>& visit) {
  std::map<int32_t, Time> busy_until;
  std::vector<Charge> charges;
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    const Operation& operation = graph.operations[i];
    if (operation.device < 0) continue;
    const auto [found, is_first] = busy_until.try_emplace(operation.device, operation.leave);
    if (!is_first && operation.enter > found->second) {
      charges.clear();
      walk_before(graph, static_cast<int32_t>(i), found->second, charges);
      visit(operation.device, {found->second, operation.enter}, charges);
    }
    found->second = std::max(found->second, operation.leave);
  }
}

IdleTime idle_time(const EventGraph& graph, std::optional<Span> span) {
  std::map<int32_t, Account> accounts;
  for (const auto& [device, extent] : device_extents(graph)) {
    const auto place = accounts.try_emplace(device, graph, device, span.value_or(extent)).first;
    if (!span) continue;
    place->second.add_edge(IdleCause::kBeforeFirst, "<Before the first operation>",
                           {span->start, extent.start});
    place->second.add_edge(IdleCause::kAfterLast, "<After the last operation>", {extent.end, span->end});
  }
  visit_idle(graph, [&](int32_t device, Span gap, const std::vector<Charge>& charges) {
    accounts.at(device).add_gap(gap, charges);
  });
  IdleTime result;
  for (auto& [device, account] : accounts) result.devices.push_back(account.finish());
  return result;
}

IdleTime idle_time(const trace::Trace& trace, std::optional<Span> span) {
  return idle_time(build_event_graph(trace), span);
}

std::string_view idle_cause_name(IdleCause cause) {
  switch (cause) {
    case IdleCause::kHostCall: return "host_call";
    case IdleCause::kHostOther: return "host_other";
    case IdleCause::kProfiler: return "profiler";
    case IdleCause::kHostFunction: return "host_function";
    case IdleCause::kOtherDevice: return "other_device";
    case IdleCause::kLaunchLatency: return "launch_latency";
    case IdleCause::kQueueGap: return "queue_gap";
    case IdleCause::kBeforeFirst: return "before_first";
    case IdleCause::kAfterLast: return "after_last";
    case IdleCause::kUnknown: break;
  }
  return "unknown";
}

Json to_json(const IdleTime& idle) { return base::described_json(idle); }

}  // namespace hone::analysis
