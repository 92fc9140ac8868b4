// See layer_times.hpp.
#include "bench/sweep/layer_times.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "backend/tensorrt/layers.hpp"
#include "bench/results/figures.hpp"

namespace hone::bench {
namespace {

constexpr double kMillisecond = 1e6;  // in ns

/// Milliseconds of each layer in each run, by name.
class Times {
 public:
  explicit Times(const TracedRuns& traced) : runs_(traced.runs) {
    for (const backend::StepInfo& step : traced.steps) times_.try_emplace(step.name);
    if (traced.device.work.empty()) {
      for (const TracedRuns::Range& range : traced.ranges)
        add(traced.names[range.name], range.start_ns, range.end_ns);
      return;
    }
    for (const base::DeviceWork& work : traced.device.work) {
      if (work.node < 0) continue;
      const base::DeviceNode& node = traced.device.nodes[static_cast<size_t>(work.node)];
      add(traced.device.texts[static_cast<size_t>(node.step)], work.start_ns, work.end_ns);
    }
  }

  /// Empty if the layer never ran, or if its times were already taken, because two steps with the same name
  /// share one time.
  std::vector<double> take(const std::string& name) {
    std::vector<double> times = std::move(times_[name]);
    times_[name].clear();
    if (times.size() > 1) times.erase(times.begin());
    return times;
  }

  /// False if the backend reports its steps, but not when they ran.
  bool any() const {
    return std::ranges::any_of(times_, [](const auto& entry) { return !entry.second.empty(); });
  }

 private:
  void add(const std::string& name, int64_t start, int64_t end) {
    const auto found = times_.find(name);
    const auto after = std::partition_point(
        runs_.begin(), runs_.end(), [&](const TracedRuns::Run& run) { return run.start_ns <= start; });
    if (found == times_.end() || after == runs_.begin()) return;
    found->second.resize(runs_.size(), 0);
    found->second[static_cast<size_t>(after - runs_.begin()) - 1] +=
        static_cast<double>(end - start) / kMillisecond;
  }

  const std::vector<TracedRuns::Run>& runs_;
  std::map<std::string, std::vector<double>> times_;
};

LayerFigure figure_of(const backend::StepInfo& step, const std::vector<double>& times) {
  return {step.name,    step.kind,           step.tactic, step.sources, step.inputs,
          step.outputs, times_figure(times), step.flops,  step.bytes};
}

}  // namespace

std::vector<LayerFigure> layer_figures(const TracedRuns& traced) {
  Times times(traced);
  std::vector<LayerFigure> layers;
  if (!times.any()) return layers;
  for (const backend::StepInfo& step : traced.steps) layers.push_back(figure_of(step, times.take(step.name)));
  return layers;
}

std::vector<LayerFigure> layer_figures(const backend::LayerProfile& profile) {
  const std::vector<backend::StepInfo> steps = backend::tensorrt::layers_of(profile.description);
  std::vector<LayerFigure> layers;
  for (size_t i = 0; i < profile.layers.size(); ++i) {
    backend::StepInfo step = i < steps.size() ? steps[i] : backend::StepInfo{};
    step.name = profile.layers[i].name;
    step.sources = profile.layers[i].nodes;
    layers.push_back(figure_of(step, profile.layers[i].times_ms));
  }
  return layers;
}

}  // namespace hone::bench
