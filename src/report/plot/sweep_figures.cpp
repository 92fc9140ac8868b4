// See sweep_figures.hpp.
#include "report/plot/sweep_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/units.hpp"
#include "report/plot/sweep_notes.hpp"
#include "report/plot/ticks.hpp"

namespace hone::report {
namespace {

/// A measured value and the text next to its dot.
struct Value {
  Point point;  ///< x is the batch
  std::string text;
};

struct ValueSeries {
  std::string name;
  SeriesStyle style;
  std::vector<Value> values;
};

using Measure = std::function<std::optional<Value>(const SweepRun&)>;

/// If the largest value is at least this many times the smallest, the axis is logarithmic, because small
/// values would be indistinguishable on a linear one.
constexpr double kLogFrom = 10;

std::vector<ValueSeries> measure_all(const SweepGroup& group, const Measure& measure) {
  std::vector<ValueSeries> result;
  for (const SweepSeries& series : group.series) {
    ValueSeries values{series.name, series.style, {}};
    for (const SweepRun& run : series.runs) {
      std::optional<Value> value = measure(run);
      if (!value) continue;
      value->point.x = static_cast<double>(run.setup.batch);
      value->point.valid = run.verdict.valid;
      values.values.push_back(*std::move(value));
    }
    if (!values.values.empty()) result.push_back(std::move(values));
  }
  return result;
}

std::vector<double> batches_of(const std::vector<ValueSeries>& all) {
  std::set<double> batches;
  for (const ValueSeries& series : all) {
    for (const Value& value : series.values) batches.insert(value.point.x);
  }
  return {batches.begin(), batches.end()};
}

bool wants_log(const std::vector<ValueSeries>& all) {
  double least = INFINITY;
  double most = 0;
  for (const ValueSeries& series : all) {
    for (const Value& value : series.values) {
      least = std::min({least, value.point.y, value.point.low.value_or(INFINITY)});
      most = std::max({most, value.point.y, value.point.high.value_or(0)});
    }
  }
  return most >= kLogFrom * least;
}

LineChart lines_over_batches(const std::vector<ValueSeries>& all, const std::vector<double>& batches,
                             Axis y) {
  LineChart chart{{"batch size", batches.back() >= 8 * batches.front(), batches}, std::move(y), {}};
  for (const ValueSeries& series : all) {
    Series line{series.name, series.style, {}};
    for (const Value& value : series.values) line.points.push_back(value.point);
    chart.series.push_back(std::move(line));
  }
  return chart;
}

RowChart rows_of_dots(const std::vector<ValueSeries>& all, Axis axis) {
  RowChart chart{std::move(axis), {}, {}};
  for (const ValueSeries& series : all) {
    Row row{series.name, series.values.front().text};
    row.dot = series.values.front().point;
    row.style = series.style;
    chart.rows.push_back(std::move(row));
  }
  return chart;
}

/// If there is only one batch, the title contains it.
std::optional<Figure> figure_of(const SweepGroup& group, const char* kind, const std::string& title,
                                Axis axis, const std::vector<ValueSeries>& all, const std::string& spread) {
  if (all.empty()) return std::nullopt;
  axis.log = wants_log(all);
  Figure figure;
  figure.name = group.name + "-" + kind;
  figure.title = title;
  figure.subtitle = group.machine + ": " + spread;
  const std::vector<double> batches = batches_of(all);
  if (batches.size() > 1) {
    figure.chart = lines_over_batches(all, batches, std::move(axis));
    return figure;
  }
  figure.title += fmt::format(", batch {}", batches.front());
  figure.chart = rows_of_dots(all, std::move(axis));
  return figure;
}

std::optional<Value> latency_value(const SweepRun& run) {
  if (!run.latency.p50) return std::nullopt;
  const double p50 = *run.latency.p50;
  Value value{{0, p50}, value_text(p50) + " ms"};
  const std::optional<double> low = run.spread.p25;
  const std::optional<double> high = run.spread.top_value ? run.spread.top_value : run.spread.p75;
  // Percentiles of a file that contradicts itself give no error bar.
  if (!low || !high || *low > p50 || *high < p50) return value;
  value.point.low = low;
  value.point.high = high;
  return value;
}

std::optional<Value> throughput_value(const SweepRun& run) {
  if (!run.throughput) return std::nullopt;
  return Value{{0, *run.throughput}, value_text(*run.throughput) + " /s"};
}

std::optional<Value> pipelined_value(const SweepRun& run) {
  if (!run.pipelined) return std::nullopt;
  return Value{{0, run.pipelined->throughput}, value_text(run.pipelined->throughput) + " /s"};
}

std::optional<Value> speedup_value(const SweepRun& run) {
  if (!run.speedup) return std::nullopt;
  const bench::SpeedupFigure& speedup = *run.speedup;
  const double ratio = speedup.ratio.value();
  Value value{{0, ratio}, base::factor_text(ratio) + ", no interval"};
  if (!speedup.interval) return value;
  const auto [low, high] = *speedup.interval;
  value.point.low = low;
  value.point.high = high;
  value.text = fmt::format("{} [{}, {}]", speedup.differs() ? base::factor_text(ratio) : "no difference",
                           base::factor_text(low), base::factor_text(high));
  return value;
}

/// The systems that the speedups refer to; several if sweeps used different ones.
std::set<std::string> references(const SweepGroup& group) {
  std::set<std::string> result;
  for (const SweepSeries& series : group.series) {
    for (const SweepRun& run : series.runs) {
      if (run.speedup) result.insert(run.compared_with());
    }
  }
  return result;
}

/// Returns one series for each pair of a system and a reference.
std::vector<ValueSeries> speedups(const SweepGroup& group, const std::set<std::string>& over) {
  std::vector<ValueSeries> all;
  for (const std::string& reference : over) {
    auto some = measure_all(group, [&](const SweepRun& run) {
      return run.speedup && run.compared_with() == reference ? speedup_value(run) : std::nullopt;
    });
    for (ValueSeries& series : some) {
      if (over.size() > 1) series.name += " over " + reference;
      series.style.dashed = series.style.dashed || reference != *over.begin();
      all.push_back(std::move(series));
    }
  }
  return all;
}

}  // namespace

std::optional<Figure> latency_figure(const SweepGroup& group) {
  std::optional<Figure> figure = figure_of(group, "latency", "Latency of " + group.subject, {"latency, ms"},
                                           measure_all(group, latency_value), "p50, bars from p25 to p99");
  if (!figure) return figure;
  figure->notes = latency_notes(group);
  return figure;
}

std::optional<Figure> throughput_figure(const SweepGroup& group) {
  std::vector<ValueSeries> all = measure_all(group, throughput_value);
  std::vector<ValueSeries> pipelined = measure_all(group, pipelined_value);
  for (ValueSeries& series : pipelined) {
    series.name += ", pipelined";
    series.style.dashed = true;
    all.push_back(std::move(series));
  }
  std::optional<Figure> figure = figure_of(
      group, "throughput", "Throughput of " + group.subject, {"samples per second"}, all,
      pipelined.empty() ? "one run in flight" : "one run in flight; dashed: pipelined, runs that overlap");
  if (!figure) return figure;
  figure->notes = sweep_notes(group);
  return figure;
}

std::optional<Figure> speedup_figure(const SweepGroup& group) {
  const std::set<std::string> over = references(group);
  const std::vector<ValueSeries> all = speedups(group, over);
  Axis axis{"times as fast; the line is 1"};
  axis.reference = 1;
  const std::string title =
      "Speedup of " + group.subject + (over.size() == 1 ? " over " + *over.begin() : "");
  std::optional<Figure> figure = figure_of(group, "speedup", title, std::move(axis), all,
                                           "ratio of p50, bars are 95 % confidence intervals");
  if (!figure) return figure;
  figure->notes = speedup_notes(group);
  return figure;
}

std::vector<Figure> sweep_figures(const SweepGroup& group) {
  std::vector<Figure> figures;
  for (const auto make : {latency_figure, throughput_figure, speedup_figure, memory_figure}) {
    if (std::optional<Figure> figure = make(group)) figures.push_back(*std::move(figure));
  }
  return figures;
}

}  // namespace hone::report
