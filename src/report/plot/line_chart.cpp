// Draws lines over batches, with their names next to their ends; see charts.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/plot/charts.hpp"
#include "report/plot/scale.hpp"
#include "report/plot/ticks.hpp"

namespace hone::report {
namespace {

constexpr double kEntry = 19;      ///< height of a line of the legend
constexpr double kSample = 30;     ///< width of the line sample before a name
constexpr double kTitleRoom = 22;  ///< room for the title of the y axis, above the chart
constexpr double kTickRoom = 42;   ///< room for the ticks of the x axis, below the chart

Extent values_of(const LineChart& chart) {
  Extent extent;
  extent.add(chart.y.reference);
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) {
      extent.add(point.y);
      extent.add(point.low);
      extent.add(point.high);
    }
  }
  return extent;
}

bool has_error_bars(const LineChart& chart) {
  return std::any_of(chart.series.begin(), chart.series.end(), [](const Series& series) {
    return std::any_of(series.points.begin(), series.points.end(),
                       [](const Point& point) { return point.low.has_value(); });
  });
}

/// Shifts every series a little, because error bars at the same batch would hide each other.
class Dodge {
 public:
  Dodge(const LineChart& chart, const Scale& x) : count_(chart.series.size()) {
    if (!has_error_bars(chart)) return;
    const std::vector<double>& at = chart.x.ticks;
    double gap = 60;
    for (size_t i = 1; i < at.size(); ++i) gap = std::min(gap, x.place(at[i]) - x.place(at[i - 1]));
    step_ = std::min(8.0, 0.6 * gap / static_cast<double>(std::max<size_t>(count_, 1)));
  }
  double of(size_t series) const {
    return (static_cast<double>(series) - (static_cast<double>(count_) - 1) / 2) * step_;
  }

 private:
  size_t count_;
  double step_ = 0;
};

void draw_y_axis(const LineChart& chart, const Scale& y, const Area& plot, double title_left,
                 Canvas* canvas) {
  const Theme& theme = canvas->theme();
  for (const double tick : y.ticks()) {
    canvas->line({plot.left, y.place(tick)}, {plot.right, y.place(tick)}, theme.grid);
    canvas->muted({plot.left - 8, y.place(tick) + 4}, tick_text(tick), plot.left, kTextSize, Anchor::kEnd);
  }
  canvas->muted({title_left, plot.top - 10}, chart.y.title + (chart.y.log ? " (log scale)" : ""),
                plot.right - title_left);
  if (chart.y.reference)
    canvas->line({plot.left, y.place(*chart.y.reference)}, {plot.right, y.place(*chart.y.reference)},
                 theme.ink, 1.2, true);
}

void draw_x_axis(const LineChart& chart, const Scale& x, const Area& plot, Canvas* canvas) {
  const Theme& theme = canvas->theme();
  canvas->line({plot.left, plot.bottom}, {plot.right, plot.bottom}, theme.axis);
  double free_from = -INFINITY;
  for (const double tick : x.ticks()) {
    const double at = x.place(tick);
    canvas->line({at, plot.bottom}, {at, plot.bottom + 4}, theme.axis);
    const double half = canvas->width_of(tick_text(tick)) / 2;
    if (at - half < free_from) continue;
    canvas->muted({at, plot.bottom + 18}, tick_text(tick), 2 * half + 1, kTextSize, Anchor::kMiddle);
    free_from = at + half + 6;
  }
  canvas->muted({(plot.left + plot.right) / 2, plot.bottom + 36},
                chart.x.title + (chart.x.log ? " (log scale)" : ""), plot.width(), kTextSize,
                Anchor::kMiddle);
}

void draw_series(const Series& series, const Scale& x, const Scale& y, double dodge, Canvas* canvas) {
  const Color color = canvas->theme().series(series.style.color);
  std::vector<Place> places;
  for (const Point& point : series.points) places.push_back({x.place(point.x) + dodge, y.place(point.y)});
  if (places.size() > 1) canvas->path(places, color, 1.8, series.style.dashed);
  for (size_t i = 0; i < places.size(); ++i) {
    const Point& point = series.points[i];
    if (point.low && point.high)
      canvas->error_bar({places[i].x, y.place(*point.low)}, {places[i].x, y.place(*point.high)}, color, true);
  }
  for (size_t i = 0; i < places.size(); ++i)
    canvas->marker(places[i], series.style.marker, color, !series.points[i].valid);
}

/// Places entries as close as possible to the wanted positions without overlap; `wanted` must be ascending.
/// Returns their tops.
std::vector<double> spread(std::vector<double> wanted, double top, double bottom) {
  for (size_t i = 0; i < wanted.size(); ++i)
    wanted[i] = std::max(wanted[i], i == 0 ? top : wanted[i - 1] + kEntry);
  double limit = bottom - kEntry;
  for (size_t i = wanted.size(); i-- > 0;) {
    wanted[i] = std::min(wanted[i], limit);
    limit = wanted[i] - kEntry;
  }
  return wanted;
}

void draw_legend(const LineChart& chart, const Scale& y, const Area& area, Canvas* canvas) {
  const auto room = static_cast<size_t>(std::max(1.0, area.height() / kEntry));
  const std::vector<Series>& all = chart.series;
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return all[a].points.back().y > all[b].points.back().y; });
  const size_t shown = order.size() <= room ? order.size() : room - 1;
  std::vector<double> tops;
  for (size_t i = 0; i < shown; ++i) tops.push_back(y.place(all[order[i]].points.back().y) - kEntry / 2);
  if (shown < order.size()) tops.push_back(area.bottom - kEntry);
  tops = spread(tops, area.top, area.bottom);
  for (size_t i = 0; i < shown; ++i) {
    const Series& series = all[order[i]];
    const Color color = canvas->theme().series(series.style.color);
    const double middle = tops[i] + kEntry / 2;
    canvas->line({area.left, middle}, {area.left + kSample - 6, middle}, color, 1.8, series.style.dashed);
    canvas->marker({area.left + kSample / 2 - 3, middle}, series.style.marker, color, false);
    canvas->text({area.left + kSample, middle + 4}, series.name, area.width() - kSample);
  }
  if (shown < order.size())
    canvas->muted({area.left + kSample, tops.back() + kEntry / 2 + 4},
                  fmt::format("… and {} more", order.size() - shown), area.width() - kSample);
}

}  // namespace

double wanted_height(const LineChart& chart, double width) {
  const double legend = kEntry * static_cast<double>(chart.series.size()) + kTitleRoom + kTickRoom;
  return std::max(legend, std::min(0.5 * width, 420.0));
}

void draw(const LineChart& chart, const Area& area, Canvas* canvas) {
  std::vector<std::string> names;
  for (const Series& series : chart.series) names.push_back(series.name);
  const double legend = kSample + canvas->width_of(names, kTextSize, 0.34 * area.width());
  Area plot{area.left, area.top + kTitleRoom, area.right - legend - 14, area.bottom - kTickRoom};
  const Scale y(chart.y, values_of(chart), plot.bottom, plot.top, 38);
  std::vector<std::string> labels;
  for (const double tick : y.ticks()) labels.push_back(tick_text(tick));
  plot.left += canvas->width_of(labels, kTextSize, area.width() / 4) + 10;
  Extent batches;
  for (const double batch : chart.x.ticks) batches.add(batch);
  const Scale x(chart.x, batches, plot.left, plot.right, 1);
  draw_y_axis(chart, y, plot, area.left, canvas);
  draw_x_axis(chart, x, plot, canvas);
  const Dodge dodge(chart, x);
  for (size_t i = 0; i < chart.series.size(); ++i) draw_series(chart.series[i], x, y, dodge.of(i), canvas);
  draw_legend(chart, y, {plot.right + 14, plot.top - 6, area.right, plot.bottom + kTickRoom - 8}, canvas);
}

}  // namespace hone::report
