// See trace_figures.hpp.
#include "report/plot/trace_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "base/units.hpp"
#include "report/plot/time_scale.hpp"
#include "report/terminal/trend_text.hpp"

namespace hone::report {
namespace {

using analysis::Layer;
using analysis::StepCategory;

constexpr size_t kMostLayers = 40;
/// Up to this number of steps, each step is a row; more steps become columns.
constexpr size_t kMostStepRows = 12;
constexpr size_t kMostColumns = 120;

std::string metadata_of(const trace::Trace& trace, const char* key) {
  const auto found = trace.metadata.find(key);
  return found == trace.metadata.end() ? "" : found->second;
}

/// Indices of the longest layers, in the order in which they run.
std::vector<size_t> longest_layers(const std::vector<Layer>& layers) {
  std::vector<size_t> order(layers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return layers[a].time.p50 > layers[b].time.p50; });
  order.resize(std::min(order.size(), kMostLayers));
  std::sort(order.begin(), order.end());
  return order;
}

/// The categories that have any time, with their shares. Time without recorded activity is grey.
std::vector<Part> step_parts(const analysis::StepBreakdown& steps, std::vector<size_t>* categories) {
  std::vector<Part> parts;
  for (size_t i = 0; i < analysis::kStepCategories; ++i) {
    if (steps.categories[i].max <= 0) continue;
    const auto category = static_cast<StepCategory>(i);
    categories->push_back(i);
    parts.push_back(
        {fmt::format("{} {}", analysis::category_name(category), base::share_text(steps.share(category))),
         category == StepCategory::kOther ? kNeutralColor : i % kPaletteColors});
  }
  return parts;
}

/// Makes a bar for each step.
RowChart step_rows(const analysis::StepBreakdown& steps, const TimeScale& scale) {
  std::vector<size_t> categories;
  RowChart chart{{"time, " + scale.unit}, step_parts(steps, &categories), {}};
  for (size_t i = 0; i < steps.steps.size(); ++i) {
    const analysis::StepCost& step = steps.steps[i];
    Row row{fmt::format("step {}", i),
            base::time_text(static_cast<double>(analysis::length(step.step.span)))};
    double level = 0;
    for (size_t part = 0; part < categories.size(); ++part) {
      const double next = level + scale.of(static_cast<double>(step.costs[categories[part]]));
      row.bars.push_back({level, next, part});
      level = next;
    }
    chart.rows.push_back(std::move(row));
  }
  return chart;
}

/// Mean costs of the steps from `first` up to, but without, `last`.
StackedColumn column_of(const analysis::StepBreakdown& steps, size_t first, size_t last,
                        const TimeScale& scale, const std::vector<size_t>& categories) {
  StackedColumn column{fmt::format("{}", first), {}};
  for (const size_t category : categories) {
    double sum = 0;
    for (size_t i = first; i < last; ++i) sum += static_cast<double>(steps.steps[i].costs[category]);
    column.values.push_back(scale.of(sum / static_cast<double>(last - first)));
  }
  return column;
}

ColumnChart step_columns(const analysis::StepBreakdown& steps, const TimeScale& scale) {
  const size_t together = (steps.steps.size() + kMostColumns - 1) / kMostColumns;
  std::vector<size_t> categories;
  ColumnChart chart{together > 1 ? fmt::format("step; each column is the mean of {}", together) : "step",
                    {"time, " + scale.unit},
                    step_parts(steps, &categories),
                    {}};
  for (size_t i = 0; i < steps.steps.size(); i += together)
    chart.columns.push_back(
        column_of(steps, i, std::min(i + together, steps.steps.size()), scale, categories));
  return chart;
}

std::string waterfall_title(const analysis::TraceDiff& diff) {
  if (diff.unrelated) return "From A to B, which seem to be of different programs";
  const std::optional<analysis::DiffSpeedup> speedup = diff.speedup();
  const std::optional<bool> differs = speedup ? speedup->differs() : std::nullopt;
  if (!differs) return "From A to B: whether the change is more than noise is not known";
  const std::string end = diff.contradictory() ? ", but these recorded iterations contradict that" : "";
  if (!*differs) return "From A to B: the change is not more than noise" + end;
  const std::string change =
      speedup->ratio > 1
          ? fmt::format("B is {} times as fast as A", base::factor_text(speedup->ratio))
          : fmt::format("B takes {} times as long as A", base::factor_text(1 / speedup->ratio));
  return change + (end.empty() ? ": why" : end);
}

Row total_row(const std::string& name, const analysis::Estimate& estimate, const TimeScale& scale) {
  Row row{name, base::time_text(estimate.mean)};
  row.bars.push_back({0, scale.of(estimate.mean), 0});
  if (!estimate.half_width) return row;
  row.text += " ±" + base::time_text(*estimate.half_width);
  row.whisker = {scale.of(std::max(0.0, estimate.mean - *estimate.half_width)),
                 scale.of(estimate.mean + *estimate.half_width)};
  return row;
}

}  // namespace

TraceLabel label_trace(const trace::Trace& trace, const std::string& name) {
  TraceLabel label{name, name, ""};
  for (const trace::DeviceProperties& device : trace.devices) {
    if (device.name != 0) label.machine = trace.text(device.name);
  }
  const std::string model = metadata_of(trace, "model");
  if (model.empty()) return label;
  label.title = fmt::format("{}, {} {} batch {}", std::filesystem::path(model).stem().string(),
                            metadata_of(trace, "backend"), metadata_of(trace, "precision"),
                            metadata_of(trace, "batch"));
  if (label.machine.empty()) label.machine = metadata_of(trace, "device");
  return label;
}

std::optional<Figure> layers_figure(const TraceLabel& label, const analysis::LayerTable& table) {
  if (table.layers.empty()) return std::nullopt;
  const std::vector<size_t> shown = longest_layers(table.layers);
  double longest = 0;
  double all = 0;
  double in_figure = 0;
  for (const Layer& layer : table.layers) all += layer.time.p50;
  for (const size_t i : shown) longest = std::max(longest, table.layers[i].time.max);
  const TimeScale scale = scale_for(longest);
  RowChart chart{{"time in one iteration, " + scale.unit}, {}, {}};
  for (const size_t i : shown) {
    const base::Summary& time = table.layers[i].time;
    Row row{table.layers[i].name, base::time_text(time.p50)};
    row.box = Box{scale.of(time.min), scale.of(time.p25), scale.of(time.p50), scale.of(time.p75),
                  scale.of(time.max)};
    chart.rows.push_back(std::move(row));
    in_figure += time.p50;
  }
  Figure figure;
  figure.name = label.name + "-layers";
  figure.title = "Layers of " + label.title;
  figure.subtitle = fmt::format(
      "{}{}in the order they run: box p25 to p75, line p50, whiskers least to most, {} iterations",
      label.machine, label.machine.empty() ? "" : ", ", table.layers.front().time.n);
  if (shown.size() < table.layers.size())
    figure.notes.push_back(fmt::format("{} shorter layers are left out: {} of the layers' time.",
                                       table.layers.size() - shown.size(),
                                       base::share_text(all > 0 ? 1 - in_figure / all : 0)));
  figure.notes.insert(figure.notes.end(), table.notes.begin(), table.notes.end());
  figure.chart = std::move(chart);
  return figure;
}

std::optional<Figure> steps_figure(const TraceLabel& label, const analysis::StepBreakdown& steps) {
  if (!steps.announced || steps.steps.empty()) return std::nullopt;
  const TimeScale scale = scale_for(steps.total.max);
  Figure figure;
  figure.name = label.name + "-steps";
  figure.title = "Where the steps' time goes: " + label.title;
  figure.subtitle =
      fmt::format("{}{}p50 of a step {}, p25 to p75 {} to {}, {} steps", label.machine,
                  label.machine.empty() ? "" : ", ", base::time_text(steps.total.p50),
                  base::time_text(steps.total.p25), base::time_text(steps.total.p75), steps.steps.size());
  figure.notes = steps.notes;
  if (const std::string trend = trend_text(steps.trend); !trend.empty()) figure.notes.push_back(trend);
  if (steps.steps.size() <= kMostStepRows) {
    figure.chart = step_rows(steps, scale);
  } else {
    figure.chart = step_columns(steps, scale);
  }
  return figure;
}

Figure waterfall_figure(const TraceLabel& a, const TraceLabel& b, const analysis::TraceDiff& diff) {
  const TimeScale scale = scale_for(std::max(diff.iteration_a.mean, diff.iteration_b.mean));
  RowChart chart{{"time of one iteration, " + scale.unit},
                 {{"iteration", kNeutralColor}, {"less time", 0}, {"more time", 1}},
                 {},
                 true};
  chart.rows.push_back(total_row("A: " + a.title, diff.iteration_a, scale));
  double level = diff.iteration_a.mean;
  for (const analysis::WaterfallBar& bar : diff.waterfall) {
    Row row{bar.name, (bar.change < 0   ? "−"
                       : bar.change > 0 ? "+"
                                        : "") +
                          base::time_text(std::abs(bar.change))};
    row.bars.push_back(
        {scale.of(level), scale.of(level + bar.change), bar.change < 0 ? size_t{1} : size_t{2}});
    level += bar.change;
    chart.rows.push_back(std::move(row));
  }
  chart.rows.push_back(total_row("B: " + b.title, diff.iteration_b, scale));
  Figure figure;
  figure.name = fmt::format("{}-to-{}-waterfall", a.name, b.name);
  figure.title = waterfall_title(diff);
  figure.subtitle =
      fmt::format("{}{}means of one iteration, ± half of the 95 % confidence interval", a.machine,
                  a.machine.empty()        ? ""
                  : a.machine == b.machine ? ": "
                                           : " and " + b.machine + ": ");
  figure.notes = diff.notes;
  for (const auto& [name, trend] : {std::pair("A", diff.trend_a), std::pair("B", diff.trend_b)}) {
    if (trend && trend->certain()) figure.notes.push_back(fmt::format("{}: {}", name, trend_text(trend)));
  }
  figure.chart = std::move(chart);
  return figure;
}

}  // namespace hone::report
