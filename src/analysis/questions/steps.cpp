// Divides the time of steps among the categories; see steps.hpp.
#include "analysis/questions/steps.hpp"

#include <algorithm>
#include <optional>

#include "analysis/names.hpp"
#include "analysis/questions/profiler_overhead.hpp"
#include "analysis/schema/steps.hpp"

namespace hone::analysis {
namespace {

using trace::DeviceEvent;
using trace::DeviceKind;
using trace::HostEvent;
using trace::HostKind;
using trace::Trace;

constexpr std::array<std::string_view, kStepCategories> kNames = {
    "kernel", "memcpy", "memset", "communication", "runtime", "data loading", "cpu", "other"};

/// A predicate on names that is evaluated once for each name.
class NameTest {
 public:
  NameTest(const Trace& trace, bool (*test)(std::string_view))
      : trace_(trace), test_(test), known_(trace.strings.size(), -1) {}
  bool operator()(trace::StringId name) {
    if (known_[name] < 0) known_[name] = test_(trace_.text(name)) ? 1 : 0;
    return known_[name] == 1;
  }

 private:
  const Trace& trace_;
  bool (*test_)(std::string_view);
  std::vector<int8_t> known_;
};

using Ranges = std::array<std::vector<Span>, kStepCategories>;

StepCategory category_of(const Trace& trace, const DeviceEvent& event, NameTest& communicates) {
  if (event.kind == DeviceKind::kCopy) return StepCategory::kMemcpy;
  if (event.kind == DeviceKind::kSet) return StepCategory::kMemset;
  const bool collective =
      event.detail >= 0 && trace.launches[static_cast<size_t>(event.detail)].collective != 0;
  return collective || communicates(event.name) ? StepCategory::kCommunication : StepCategory::kKernel;
}

/// Ranges and Python frames enclose both work and waits, so they have no category.
std::optional<StepCategory> category_of(const HostEvent& event, NameTest& loads, NameTest& communicates) {
  switch (event.kind) {
    case HostKind::kRuntimeApi:
    case HostKind::kDriverApi: return StepCategory::kRuntime;
    case HostKind::kEngineStep:
    case HostKind::kHostFunction: return StepCategory::kCpu;
    case HostKind::kOperator:
    case HostKind::kRange: break;
    default: return std::nullopt;
  }
  if (loads(event.name)) return StepCategory::kDataLoading;
  if (communicates(event.name)) return StepCategory::kCommunication;
  if (event.kind == HostKind::kOperator) return StepCategory::kCpu;
  return std::nullopt;
}

Ranges ranges_of(const Trace& trace) {
  Ranges ranges;
  NameTest communicates(trace, is_communication_kernel);
  for (const DeviceEvent& event : trace.device_events)
    ranges.at(static_cast<size_t>(category_of(trace, event, communicates)))
        .push_back({event.start, event.end});
  NameTest loads(trace, is_data_loading);
  NameTest host_communicates(trace, is_host_communication);
  for (const HostEvent& event : trace.host_events) {
    if (const auto category = category_of(event, loads, host_communicates))
      ranges.at(static_cast<size_t>(*category)).push_back({event.start, event.end});
  }
  return ranges;
}

/// The summary of `value` over the steps.
template <class Value>
base::Summary summary_of(const std::vector<StepCost>& steps, const Value& value) {
  std::vector<double> samples;
  samples.reserve(steps.size());
  for (const StepCost& step : steps) samples.push_back(static_cast<double>(value(step)));
  return base::summarize(std::move(samples));
}

}  // namespace

std::string_view category_name(StepCategory category) { return kNames.at(static_cast<size_t>(category)); }

double StepBreakdown::share(StepCategory category) const {
  return total.mean > 0 ? categories.at(static_cast<size_t>(category)).mean / total.mean : 0;
}

StepBreakdown break_down_steps(const Trace& trace, const StepList& list) {
  StepBreakdown result;
  result.announced = list.announced;
  result.notes = list.notes;
  std::vector<Span> spans;
  for (const Step& step : list.steps) {
    spans.push_back(step.span);
    result.steps.push_back({step});
  }
  Ranges ranges = ranges_of(trace);
  Intervals left = unite(spans);
  // Time that belongs to an earlier category is not available to later ones; the rest is "other".
  for (size_t category = 0; category + 1 < kStepCategories; ++category) {
    const Intervals taken = unite(std::move(ranges.at(category)));
    const std::vector<Time> costs = lengths_within(intersect(left, taken), spans);
    for (size_t i = 0; i < costs.size(); ++i) result.steps[i].costs.at(category) = costs[i];
    left = subtract(left, taken);
  }
  const std::vector<Time> others = lengths_within(left, spans);
  const std::vector<Time> overheads = lengths_within(profiler_overhead(trace), spans);
  for (size_t i = 0; i < spans.size(); ++i) {
    result.steps[i].costs.back() = others[i];
    result.steps[i].overhead = overheads[i];
  }
  result.total = summary_of(result.steps, [](const StepCost& step) { return length(step.step.span); });
  std::vector<double> lengths;
  for (const StepCost& step : result.steps) lengths.push_back(static_cast<double>(length(step.step.span)));
  result.trend = base::trend_of(lengths);
  for (size_t category = 0; category < kStepCategories; ++category)
    result.categories.at(category) =
        summary_of(result.steps, [category](const StepCost& step) { return step.costs.at(category); });
  return result;
}

namespace {

std::string key_of(size_t category) {
  std::string name(kNames.at(category));
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

}  // namespace

base::Named<Time> StepCost::named_costs() const {
  base::Named<Time> named;
  for (size_t i = 0; i < kStepCategories; ++i) named.emplace_back(key_of(i) + "_ns", costs.at(i));
  return named;
}

base::Named<CategoryCost> StepBreakdown::named_categories() const {
  base::Named<CategoryCost> named;
  for (size_t i = 0; i < kStepCategories; ++i)
    named.emplace_back(key_of(i), CategoryCost{categories.at(i), share(static_cast<StepCategory>(i))});
  return named;
}

Json to_json(const StepBreakdown& breakdown) { return base::described_json(breakdown); }

}  // namespace hone::analysis
