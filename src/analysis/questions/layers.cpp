// See layers.hpp.
#include "analysis/questions/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <unordered_map>

#include "analysis/device_rates.hpp"
#include "analysis/joins.hpp"
#include "analysis/schema/layers.hpp"

namespace hone::analysis {
namespace {

using trace::DeviceEvent;
using trace::HostEvent;
using trace::HostKind;
using trace::StringId;
using trace::Trace;

/// The work of one layer in all iterations.
struct Account {
  std::vector<Time> times;  ///< by iteration
  std::map<StringId, int64_t> kernels;
  size_t first_seen = 0;
};

class Collector {
 public:
  Collector(const Trace& trace, const StepList& steps)
      : trace_(trace), steps_(steps.steps), roof_(trace::CpuRoof::of(trace)) {
    for (const trace::GraphNode& node : trace.graph_nodes) range_of_node_[node.id] = node.range;
    for (const trace::ModelStep& step : trace.model_steps) accounts_[step.name];
    order_ = trace.model_steps.size();
    other_.assign(steps_.size(), 0);
    busy_.resize(steps_.size());
  }

  void collect() {
    collect_device();
    collect_host();
  }

  LayerTable table() const {
    LayerTable result;
    std::vector<double> sums(steps_.size(), 0);
    std::map<StringId, const trace::ModelStep*> facts;
    for (const trace::ModelStep& step : trace_.model_steps) facts.try_emplace(step.name, &step);
    for (const auto& [name, account] : accounts_) {
      if (account.times.empty()) continue;
      for (size_t i = 0; i < account.times.size(); ++i) sums[i] += static_cast<double>(account.times[i]);
      const auto fact = facts.find(name);
      result.layers.push_back(layer(name, account, fact == facts.end() ? nullptr : fact->second));
    }
    sort_by_run(result.layers);
    add_graph(result);
    result.layer_sum = base::summarize(sums);
    std::vector<double> other;
    std::vector<double> busy;
    std::vector<double> host;
    std::vector<double> iteration;
    for (size_t i = 0; i < steps_.size(); ++i) {
      other.push_back(static_cast<double>(other_[i]));
      busy.push_back(static_cast<double>(total_length(unite(busy_[i]))));
      host.push_back(static_cast<double>(length(steps_[i].host)));
      iteration.push_back(static_cast<double>(length(steps_[i].span)));
    }
    result.other_device = base::summarize(other);
    result.device_busy = base::summarize(busy);
    result.host = base::summarize(host);
    result.iteration = base::summarize(iteration);
    result.trend = base::trend_of(iteration);
    if (roof_ && has_floor(result))
      result.notes.push_back("x floor: time divided by the time that the work needs at rates " +
                             roof_->text(trace_.metadata.at("precision")) + ".");
    if (result.layers.empty())
      result.notes.emplace_back("no layers: nothing announced ranges around what it launched");
    return result;
  }

 private:
  /// The step that contains the time, in the span that `span_of` selects; the number of steps if there is
  /// none.
  size_t step_at(Time time, Span Step::*span_of) const {
    const auto after = std::partition_point(steps_.begin(), steps_.end(),
                                            [&](const Step& step) { return (step.*span_of).start <= time; });
    if (after == steps_.begin() || (*std::prev(after).*span_of).end <= time) return steps_.size();
    return static_cast<size_t>(after - steps_.begin()) - 1;
  }

  /// As in find_steps(), a device event belongs to the step of its call or, if the call is unknown, of its
  /// own time.
  size_t step_of(const DeviceEvent& event, int32_t call) const {
    return call < 0 ? step_at(event.start, &Step::span)
                    : step_at(trace_.host_events[static_cast<size_t>(call)].start, &Step::host);
  }

  void add(StringId name, size_t step, Time time, StringId kernel) {
    Account& account = accounts_[name];
    if (account.times.empty()) {
      account.times.assign(steps_.size(), 0);
      account.first_seen = order_++;
    }
    account.times[step] += time;
    if (kernel != 0) ++account.kernels[kernel];
  }

  void collect_device() {
    const HostIndices calls = launching_calls(trace_);
    const HostIndices ranges = enclosing_events(trace_, [](const HostEvent& event) {
      return event.kind == HostKind::kRange || event.kind == HostKind::kEngineStep;
    });
    for (size_t i = 0; i < trace_.device_events.size(); ++i) {
      const DeviceEvent& event = trace_.device_events[i];
      const int32_t call = calls[i];
      const size_t step = step_of(event, call);
      if (step == steps_.size()) continue;
      busy_[step].push_back({event.start, event.end});
      const StringId name = layer_of(event, call, ranges);
      const Time time = event.end - event.start;
      if (name == 0) {
        other_[step] += time;
      } else {
        add(name, step, time, event.name);
      }
    }
  }

  StringId layer_of(const DeviceEvent& event, int32_t call, const HostIndices& ranges) const {
    if (const auto node = range_of_node_.find(event.graph_node); node != range_of_node_.end())
      return node->second;
    if (call < 0) return 0;
    const int32_t range = ranges[static_cast<size_t>(call)];
    return range < 0 ? 0 : trace_.host_events[static_cast<size_t>(range)].name;
  }

  /// If a device works, the host only launches during a step, so host times are not used.
  void collect_host() {
    if (std::any_of(busy_.begin(), busy_.end(), [](const auto& spans) { return !spans.empty(); })) return;
    for (const HostEvent& event : trace_.host_events) {
      if (event.kind != HostKind::kEngineStep) continue;
      const size_t step = step_at(event.start, &Step::host);
      if (step != steps_.size()) add(event.name, step, event.end - event.start, 0);
    }
  }

  Layer layer(StringId name, const Account& account, const trace::ModelStep* fact) const {
    Layer result;
    result.name = trace_.text(name);
    result.time = base::summarize({account.times.begin(), account.times.end()});
    for (const auto& [kernel, calls] : account.kernels)
      result.kernels.push_back(
          {trace_.text(kernel), static_cast<double>(calls) / static_cast<double>(steps_.size())});
    if (fact == nullptr) return result;
    result.kind = trace_.text(fact->kind);
    result.tactic = trace_.text(fact->tactic);
    result.sources = trace_.text(fact->sources);
    result.inputs = trace_.text(fact->inputs);
    result.outputs = trace_.text(fact->outputs);
    result.flops = fact->flops;
    result.bytes = fact->bytes;
    result.floor = floor_of(*fact);
    return result;
  }

  double floor_of(const trace::ModelStep& fact) const {
    const auto precision = trace_.metadata.find("precision");
    if (fact.bytes <= 0 || precision == trace_.metadata.end()) return 0;
    if (trace_.devices.empty())
      return roof_ ? cpu_floor(*roof_, precision->second, fact.flops, fact.bytes) : 0;
    const auto rates = device_rates(trace_.text(trace_.devices.front().name), precision->second);
    if (!rates) return 0;
    return 1e9 * std::max(fact.bytes / rates->bytes_per_second, fact.flops / rates->flops_per_second);
  }

  static bool has_floor(const LayerTable& table) {
    return std::any_of(table.layers.begin(), table.layers.end(),
                       [](const Layer& layer) { return layer.floor > 0; });
  }

  /// Sorts layers in the order of the model's steps, followed by other layers in the order of their first
  /// event.
  void sort_by_run(std::vector<Layer>& layers) const {
    std::map<std::string, size_t> place;
    for (size_t i = 0; i < trace_.model_steps.size(); ++i)
      place.try_emplace(trace_.text(trace_.model_steps[i].name), i);
    for (const auto& [name, account] : accounts_) place.try_emplace(trace_.text(name), account.first_seen);
    std::stable_sort(layers.begin(), layers.end(),
                     [&](const Layer& a, const Layer& b) { return place.at(a.name) < place.at(b.name); });
  }

  void add_graph(LayerTable& table) const {
    std::map<std::string_view, int32_t> layer_of_name;
    for (const Layer& layer : table.layers)
      layer_of_name.try_emplace(layer.name, static_cast<int32_t>(layer_of_name.size()));
    std::vector<int32_t> layer_of_step;
    std::vector<StringId> rivals(table.layers.size(), 0);
    for (const trace::ModelStep& step : trace_.model_steps) {
      const auto found = layer_of_name.find(trace_.text(step.name));
      layer_of_step.push_back(found == layer_of_name.end() ? -1 : found->second);
      if (layer_of_step.back() < 0) continue;
      StringId& text = rivals[static_cast<size_t>(layer_of_step.back())];
      if (text == 0) text = step.rivals;
    }
    LayerEdges edges = layer_edges(trace_, layer_of_step, table.layers.size());
    std::vector<std::vector<LayerRival>> lists = layer_rivals(trace_, rivals);
    for (size_t i = 0; i < table.layers.size(); ++i) {
      table.layers[i].predecessors = std::move(edges.predecessors[i]);
      table.layers[i].rivals = std::move(lists[i]);
    }
    if (edges.refused > 0)
      table.notes.push_back(
          fmt::format("{} recorded predecessors of steps name no earlier step", edges.refused));
  }

  const Trace& trace_;
  const std::vector<Step>& steps_;
  std::optional<trace::CpuRoof> roof_;
  std::unordered_map<int64_t, StringId> range_of_node_;
  std::map<StringId, Account> accounts_;
  size_t order_ = 0;
  std::vector<Time> other_;
  std::vector<std::vector<Span>> busy_;
};

}  // namespace

double cpu_floor(const trace::CpuRoof& roof, const std::string& precision, double flops, double bytes) {
  const double arithmetic = roof.flops_in(precision);
  const double memory = roof.bandwidth_for(bytes);
  if (arithmetic <= 0 || memory <= 0) return 0;
  return 1e9 * std::max(bytes / memory, flops / arithmetic);
}

LayerTable analyze_layers(const Trace& trace, const StepList& steps) {
  Collector collector(trace, steps);
  collector.collect();
  return collector.table();
}

Json to_json(const LayerTable& table) { return base::described_json(table); }

}  // namespace hone::analysis
