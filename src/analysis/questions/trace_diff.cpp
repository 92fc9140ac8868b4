// See trace_diff.hpp.
#include "analysis/questions/trace_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>

#include "analysis/graph/event_graph.hpp"
#include "analysis/questions/layer_reasons.hpp"
#include "analysis/schema/trace_diff.hpp"
#include "base/units.hpp"

namespace hone::analysis {
namespace {

/// Recorded iterations that change a speedup by this factor were disturbed, or recording slowed one side
/// only.
constexpr double kContradiction = 1.2;
/// Recordings of one program share more than this part of the names of the one with fewer names.
constexpr double kLeastShared = 0.05;
/// Iterations of a contradictory diff that take this many times as long as without recording are the reason.
constexpr double kDisturbed = 1.1;
constexpr double kNanosecondsPerMillisecond = 1e6;

/// Rounding error of sums of times in ns; no clock resolves a picosecond.
constexpr double kRoundingError = 1e-3;

Estimate estimate(const base::Summary& summary) {
  if (summary.n < 2) return {summary.mean, std::nullopt};
  return {summary.mean,
          base::student_t_975(summary.n - 1) * summary.sd / std::sqrt(static_cast<double>(summary.n))};
}

/// Errors of independent means add up in squares.
void add(Estimate& sum, const Estimate& more) {
  sum.mean += more.mean;
  if (!sum.half_width || !more.half_width) {
    sum.half_width = std::nullopt;
  } else {
    sum.half_width = std::hypot(*sum.half_width, *more.half_width);
  }
}

/// The model's nodes in a layer, or the layer's own name if none were recorded.
std::vector<std::string> nodes_of(const Layer& layer) {
  const Json sources = Json::parse(layer.sources, nullptr, false);
  std::vector<std::string> nodes;
  if (sources.is_array()) {
    for (const Json& source : sources) {
      if (source.is_string()) nodes.push_back(source.get<std::string>());
    }
  }
  if (nodes.empty()) nodes.push_back(layer.name);
  return nodes;
}

/// Union-find over layers of both sides.
class Groups {
 public:
  explicit Groups(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), size_t{0}); }

  size_t root(size_t i) {
    while (parent_[i] != i) {
      parent_[i] = parent_[parent_[i]];
      i = parent_[i];
    }
    return i;
  }
  void join(size_t a, size_t b) { parent_[root(a)] = root(b); }

 private:
  std::vector<size_t> parent_;
};

void add_kernels(const Layer& layer, std::vector<std::string>& kernels) {
  for (const LayerKernel& kernel : layer.kernels) {
    if (std::find(kernels.begin(), kernels.end(), kernel.name) == kernels.end())
      kernels.push_back(kernel.name);
  }
}

std::vector<MatchedLayers> match(const LayerTable& a, const LayerTable& b) {
  Groups groups(a.layers.size() + b.layers.size());
  std::map<std::string, size_t> owner;
  const auto claim = [&](const Layer& layer, size_t index) {
    for (const std::string& node : nodes_of(layer))
      groups.join(index, owner.try_emplace(node, index).first->second);
  };
  for (size_t i = 0; i < a.layers.size(); ++i) claim(a.layers[i], i);
  for (size_t i = 0; i < b.layers.size(); ++i) claim(b.layers[i], a.layers.size() + i);

  std::map<size_t, MatchedLayers> matched;
  std::map<size_t, std::vector<const Layer*>> of_a;
  std::map<size_t, std::vector<const Layer*>> of_b;
  for (size_t i = 0; i < a.layers.size(); ++i) {
    MatchedLayers& group = matched[groups.root(i)];
    of_a[groups.root(i)].push_back(&a.layers[i]);
    group.a.push_back(a.layers[i].name);
    add_kernels(a.layers[i], group.kernels_a);
    add(group.time_a, estimate(a.layers[i].time));
  }
  for (size_t i = 0; i < b.layers.size(); ++i) {
    MatchedLayers& group = matched[groups.root(a.layers.size() + i)];
    of_b[groups.root(a.layers.size() + i)].push_back(&b.layers[i]);
    group.b.push_back(b.layers[i].name);
    add_kernels(b.layers[i], group.kernels_b);
    add(group.time_b, estimate(b.layers[i].time));
  }
  std::vector<MatchedLayers> result;
  for (auto& [root, group] : matched) {
    group.reasons = layer_reasons(of_a[root], of_b[root]);
    result.push_back(std::move(group));
  }
  std::stable_sort(result.begin(), result.end(), [](const MatchedLayers& x, const MatchedLayers& y) {
    return std::abs(x.change()) > std::abs(y.change());
  });
  return result;
}

/// The parts of an iteration whose means add up to the mean of the iteration.
struct Parts {
  double layers;
  double other;
  double overlap;  ///< negative: time in which events of the device overlapped
  double rest;     ///< the device was idle or, if negative, worked for the iteration before it began

  explicit Parts(const LayerTable& table)
      : layers(table.layer_sum.mean),
        other(table.other_device.mean),
        // On the CPU there is no device, so the busy time is that of the layers.
        overlap(table.device_busy.mean > 0 ? table.device_busy.mean - layers - other : 0),
        rest(table.iteration.mean - layers - other - overlap) {}

  double busy() const { return layers + other + overlap; }
};

void add_idle(const IterationIdle& a, const IterationIdle& b, double rest, std::vector<WaterfallBar>& bars) {
  bars.push_back({"device idle: launches", b.launches - a.launches});
  bars.push_back({"device idle: copies, waits and other calls", b.calls - a.calls});
  bars.push_back({"device idle: the host between calls", b.host - a.host});
  bars.push_back({"device idle: gaps between operations", b.gaps - a.gaps});
  bars.push_back({"device idle: unknown", b.unknown - a.unknown});
  bars.push_back({"before the device begins and after it ends", rest - (b.sum() - a.sum())});
}

std::vector<WaterfallBar> waterfall(const DiffSide& a, const DiffSide& b, bool by_layer) {
  const Parts before(a.layers);
  const Parts after(b.layers);
  std::vector<WaterfallBar> bars;
  if (by_layer) {
    bars = {{"layers", after.layers - before.layers},
            {"other work of the device", after.other - before.other},
            {"work of the device side by side", after.overlap - before.overlap}};
  } else {
    bars = {{"work of the device", after.busy() - before.busy()}};
  }
  const double rest = after.rest - before.rest;
  if (a.idle && b.idle) {
    add_idle(*a.idle, *b.idle, rest, bars);
  } else {
    bars.push_back({"outside of layers", rest});
  }
  for (WaterfallBar& bar : bars) {
    if (std::abs(bar.change) < kRoundingError) bar.change = 0;
  }
  return bars;
}

/// Adds notes about circumstances that make the two recordings less comparable than their times suggest.
void add_differences(const Recorded& a, const Recorded& b, std::vector<std::string>& notes) {
  for (const auto& [what, in_a, in_b] :
       {std::tuple("models", &a.model, &b.model), std::tuple("devices", &a.device, &b.device),
        std::tuple("batches", &a.batch, &b.batch)}) {
    if (!in_a->empty() && !in_b->empty() && *in_a != *in_b)
      notes.push_back(fmt::format("A and B are of different {}: {} and {}", what, *in_a, *in_b));
  }
  if (!a.cost || !b.cost) return;
  notes.push_back(fmt::format(
      "The parts are times while recording, which cost: A {}, B {}. The speedup is of runs that were not "
      "recorded: {} and {}.",
      a.cost->text, b.cost->text, base::time_text(kNanosecondsPerMillisecond * a.cost->plain_ms),
      base::time_text(kNanosecondsPerMillisecond * b.cost->plain_ms)));
}

/// Names of kernels, ranges and operators, which recordings of one program have in common.
std::set<std::string> names_of(const trace::Trace& trace) {
  std::set<trace::StringId> ids;
  for (const trace::DeviceEvent& event : trace.device_events) {
    if (event.kind == trace::DeviceKind::kKernel) ids.insert(event.name);
  }
  for (const trace::HostEvent& event : trace.host_events) {
    if (event.kind == trace::HostKind::kOperator || event.kind == trace::HostKind::kRange ||
        event.kind == trace::HostKind::kEngineStep)
      ids.insert(event.name);
  }
  std::set<std::string> names;
  for (const trace::StringId id : ids) names.insert(trace.text(id));
  return names;
}

std::set<std::string> all_names(const DiffSide& side) {
  std::set<std::string> names = side.names;
  for (const Layer& layer : side.layers.layers) {
    for (std::string& node : nodes_of(layer)) names.insert(std::move(node));
  }
  return names;
}

/// A sentence if nearly nothing in A and B has the same name; empty if they may be of one program.
std::string unrelated_text(const DiffSide& a, const DiffSide& b) {
  if (!a.recorded.model.empty() && !b.recorded.model.empty()) return "";
  const std::set<std::string> of_a = all_names(a);
  const std::set<std::string> of_b = all_names(b);
  // A side without names or times was not recorded well enough to be judged.
  const auto empty = [](const DiffSide& side, const std::set<std::string>& names) {
    return names.empty() && side.layers.iteration.mean == 0;
  };
  if ((of_a.empty() && of_b.empty()) || empty(a, of_a) || empty(b, of_b)) return "";
  std::vector<std::string> shared;
  std::ranges::set_intersection(of_a, of_b, std::back_inserter(shared));
  const size_t fewer = std::min(of_a.size(), of_b.size());
  if (!shared.empty() && static_cast<double>(shared.size()) > kLeastShared * static_cast<double>(fewer))
    return "";
  const std::string common =
      shared.empty() ? "no layer, range or kernel" : fmt::format("{} of {} names", shared.size(), fewer);
  return fmt::format(
      "A and B share {}, so they seem to be of different programs, and no speedup is given; record one "
      "program or model twice (hone profile) and compare these traces.",
      common);
}

/// "1.50x as fast" or "1.50x as slow".
std::string speed_text(double ratio) {
  const bool faster = ratio >= 1;
  return fmt::format("{}x as {}", base::factor_text(faster ? ratio : 1 / ratio), faster ? "fast" : "slow");
}

std::string contradiction_text(const TraceDiff& diff) {
  return fmt::format(
      "Doubt: the recorded iterations, which the parts are of, contradict the speedup: in them B is {} as A "
      "({} and {} on average; not recorded {} and {}). They were disturbed or slowed by recording, so the "
      "parts do not explain the speedup; record both again on a quiet machine, with more iterations "
      "(hone profile --active 50).",
      speed_text(diff.iteration_a.mean / diff.iteration_b.mean), base::time_text(diff.iteration_a.mean),
      base::time_text(diff.iteration_b.mean),
      base::time_text(kNanosecondsPerMillisecond * diff.plain_a->plain_ms),
      base::time_text(kNanosecondsPerMillisecond * diff.plain_b->plain_ms));
}

}  // namespace

Recorded Recorded::of(const trace::Trace& trace) {
  const auto text = [&trace](const char* key) {
    const auto found = trace.metadata.find(key);
    return found == trace.metadata.end() ? std::string() : found->second;
  };
  return {text("model"), text("device"), text("batch"), trace::RecordingCost::of(trace)};
}

std::optional<bool> differ(const Estimate& a, const Estimate& b) {
  if (!a.half_width || !b.half_width) return std::nullopt;
  return std::abs(b.mean - a.mean) > *a.half_width + *b.half_width;
}

DiffSide diff_side(const trace::Trace& trace, const StepList& steps) {
  DiffSide side{analyze_layers(trace, steps)};
  side.notes = steps.notes;
  side.recorded = Recorded::of(trace);
  side.names = names_of(trace);
  if (!trace.device_events.empty() && steps.announced)
    side.idle = iteration_idle(build_event_graph(trace), steps);
  return side;
}

namespace {

/// Defines an iteration as the sum of its layers.
DiffSide by_layers(const DiffSide& side) {
  DiffSide result = side;
  LayerTable& table = result.layers;
  table.iteration = table.layer_sum;
  table.other_device = table.device_busy = table.host = {};
  table.trend.reset();
  result.idle.reset();
  result.recorded.cost.reset();
  result.layers_only = false;
  return result;
}

}  // namespace

TraceDiff compare_traces(const DiffSide& side_a, const DiffSide& side_b) {
  if (side_a.layers_only || side_b.layers_only) {
    TraceDiff diff = compare_traces(by_layers(side_a), by_layers(side_b));
    diff.notes.emplace_back("Times are sums of layers: one side has no iterations.");
    return diff;
  }
  const LayerTable& a = side_a.layers;
  const LayerTable& b = side_b.layers;
  TraceDiff diff;
  if (!a.layers.empty() && !b.layers.empty()) diff.layers = match(a, b);
  diff.kernels = kernel_exchanges(diff.layers);
  diff.iteration_a = estimate(a.iteration);
  diff.iteration_b = estimate(b.iteration);
  diff.trend_a = a.trend;
  diff.trend_b = b.trend;
  if (side_a.recorded.cost && side_b.recorded.cost) {
    diff.plain_a = side_a.recorded.cost;
    diff.plain_b = side_b.recorded.cost;
  }
  if (diff.timed()) diff.waterfall = waterfall(side_a, side_b, !diff.layers.empty());
  for (const auto& [name, side] : {std::pair("A", &side_a), std::pair("B", &side_b)}) {
    for (const std::string& note : side->notes) diff.notes.push_back(fmt::format("{}: {}", name, note));
  }
  add_differences(side_a.recorded, side_b.recorded, diff.notes);
  if (a.layers.empty() || b.layers.empty())
    diff.notes.push_back(std::string(a.layers.empty() ? "A" : "B") +
                         " has no layers, so what changed cannot be told apart by layer");
  const std::string unrelated = unrelated_text(side_a, side_b);
  diff.unrelated = !unrelated.empty();
  if (diff.unrelated) diff.notes.insert(diff.notes.begin(), unrelated);
  if (diff.contradictory()) diff.notes.insert(diff.notes.begin(), contradiction_text(diff));
  return diff;
}

bool TraceDiff::contradictory() const {
  const std::optional<DiffSpeedup> known = speedup();
  if (!known || !known->undisturbed || !timed()) return false;
  const double recorded = iteration_a.mean / iteration_b.mean;
  const bool turned = known->differs().value_or(false) && (recorded > 1) != (known->ratio > 1);
  return turned || std::max(recorded / known->ratio, known->ratio / recorded) >= kContradiction;
}

std::optional<DiffSpeedup> TraceDiff::speedup() const {
  if (unrelated) return std::nullopt;
  if (plain_a && plain_b) {
    DiffSpeedup speedup{plain_a->plain_ms / plain_b->plain_ms, std::nullopt, true};
    // Dividing the ends of both intervals gives an interval that contains the ratio of the medians if both
    // intervals contain their medians.
    if (plain_a->plain_interval && plain_b->plain_interval)
      speedup.interval = {plain_a->plain_interval->low / plain_b->plain_interval->high,
                          plain_a->plain_interval->high / plain_b->plain_interval->low};
    return speedup;
  }
  if (!timed()) return std::nullopt;
  DiffSpeedup speedup{iteration_a.mean / iteration_b.mean, std::nullopt, false};
  const double half_a = iteration_a.half_width.value_or(iteration_a.mean);
  const double half_b = iteration_b.half_width.value_or(iteration_b.mean);
  if (half_a < iteration_a.mean && half_b < iteration_b.mean)
    speedup.interval = {(iteration_a.mean - half_a) / (iteration_b.mean + half_b),
                        (iteration_a.mean + half_a) / (iteration_b.mean - half_b)};
  return speedup;
}

std::optional<double> TraceDiff::speedup_ratio() const {
  const std::optional<DiffSpeedup> known = speedup();
  return known ? std::optional(known->ratio) : std::nullopt;
}

std::optional<std::array<double, 2>> TraceDiff::speedup_interval() const {
  const std::optional<DiffSpeedup> known = speedup();
  return known ? known->interval : std::nullopt;
}

bool TraceDiff::speedup_undisturbed() const {
  const std::optional<DiffSpeedup> known = speedup();
  return known && known->undisturbed;
}

std::optional<trace::Doubt> iteration_doubt(const Estimate& recorded, const trace::RecordingCost& plain) {
  const double plain_ns = kNanosecondsPerMillisecond * plain.plain_ms;
  if (recorded.mean < kDisturbed * plain_ns) return std::nullopt;
  return trace::Doubt{trace::Severity::kDoubt, "iterations",
                      fmt::format("the recorded ones take {} on average, {} without recording",
                                  base::time_text(recorded.mean), base::time_text(plain_ns))};
}

bool is_first(const DiffSide& side, const DiffSide& other) {
  return side.layers.iteration.mean >= other.layers.iteration.mean;
}

Json to_json(const TraceDiff& diff) { return base::described_json(diff); }

}  // namespace hone::analysis
