// See advice.hpp.
#include "analysis/advice/advice.hpp"

#include <algorithm>
#include <map>

#include "analysis/advice/advice_rules.hpp"
#include "analysis/names.hpp"
#include "analysis/schema/advice.hpp"

namespace hone::analysis {
namespace {

constexpr size_t kPlaces = 3;

std::vector<DeviceActivity> activities(const trace::Trace& trace, Span window) {
  std::map<int32_t, std::vector<Span>> spans;
  for (const trace::DeviceEvent& event : trace.device_events) {
    const Span span = overlap({event.start, event.end}, window);
    if (length(span) > 0) spans[event.device].push_back(span);
  }
  std::vector<DeviceActivity> result;
  for (auto& [device, list] : spans) {
    Intervals busy = unite(std::move(list));
    Intervals gaps = subtract({{busy.front().start, busy.back().end}}, busy);
    result.push_back({device, std::move(busy), std::move(gaps)});
  }
  return result;
}

/// True if the trace records a model that ran on the CPU.
bool is_of_cpu(const trace::Trace& trace) {
  const auto device = trace.metadata.find("device");
  return device != trace.metadata.end() && device->second == "cpu" && trace.devices.empty();
}

}  // namespace

double RuleContext::savable_idle() const {
  Time busiest = 0;
  for (const DeviceActivity& device : devices) busiest = std::max(busiest, total_length(device.busy));
  return window_length() - static_cast<double>(busiest);
}

double RuleContext::busy_time() const {
  std::vector<Span> spans;
  for (const DeviceActivity& device : devices)
    spans.insert(spans.end(), device.busy.begin(), device.busy.end());
  return static_cast<double>(total_length(unite(std::move(spans))));
}

const trace::HostEvent* RuleContext::call_of(size_t device_event) const {
  const int32_t call = calls[device_event];
  return call < 0 ? nullptr : &trace.host_events[static_cast<size_t>(call)];
}

std::string_view RuleContext::call_name(size_t device_event) const {
  const trace::HostEvent* call = call_of(device_event);
  return call == nullptr ? std::string_view() : api_name(trace.text(call->name));
}

const trace::Transfer* RuleContext::transfer_of(const trace::DeviceEvent& event) const {
  if (event.kind == trace::DeviceKind::kKernel || event.detail < 0) return nullptr;
  return &trace.transfers[static_cast<size_t>(event.detail)];
}

void LongestPlaces::add(Span place, std::string text) {
  const auto longer = [](const Evidence& a, const Evidence& b) { return length(a.place) > length(b.place); };
  if (places_.size() == kPlaces && length(place) <= length(places_.back().place)) return;
  Evidence evidence{std::move(text), place};
  places_.insert(std::upper_bound(places_.begin(), places_.end(), evidence, longer), std::move(evidence));
  if (places_.size() > kPlaces) places_.pop_back();
}

std::vector<Evidence> LongestPlaces::take() {
  std::sort(places_.begin(), places_.end(),
            [](const Evidence& a, const Evidence& b) { return a.place.start < b.place.start; });
  return std::move(places_);
}

AdviceList advise(const Findings& findings) {
  RuleContext context{
      findings, launching_calls(findings.trace), activities(findings.trace, findings.window), {}, {}};
  const bool on_cpu = context.devices.empty() && is_of_cpu(findings.trace);
  if (on_cpu) {
    context.layers = analyze_layers(findings.trace, findings.list);
    context.threads = analyze_layer_threads(findings.trace);
  }
  AdviceList list{findings.window, 0, {}, {}};
  std::vector<std::span<const Rule>> groups = {framework_rules(), waiting_rules(), idle_rules(),
                                               kernel_rules(), trace_rules()};
  if (on_cpu) groups.push_back(cpu_rules());
  for (const auto& group : groups) {
    for (const Rule& rule : group) {
      // Rules about the GPU do not apply to a model on the CPU.
      if (on_cpu && !rule.for_cpu) continue;
      ++list.rules;
      if (context.devices.empty() && !rule.judges_host_alone) {
        list.unjudged.push_back({std::string(rule.name), "there is no work of a GPU"});
        continue;
      }
      Ruling ruling = rule.judge(context);
      if (!ruling.unjudged.empty()) list.unjudged.push_back({std::string(rule.name), ruling.unjudged});
      if (!ruling.advice) continue;
      ruling.advice->rule = rule.name;
      ruling.advice->gain = std::min(ruling.advice->gain, context.window_length());
      list.advice.push_back(std::move(*ruling.advice));
    }
  }
  std::stable_sort(list.advice.begin(), list.advice.end(),
                   [](const Advice& a, const Advice& b) { return a.gain > b.gain; });
  return list;
}

Json to_json(const AdviceList& list) { return base::described_json(list); }

}  // namespace hone::analysis
