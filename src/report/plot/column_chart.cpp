// Draws stacked columns next to each other; see charts.hpp.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/plot/charts.hpp"
#include "report/plot/scale.hpp"
#include "report/plot/ticks.hpp"

namespace hone::report {
namespace {

constexpr double kTitleRoom = 22;
constexpr double kAxisRoom = 42;

double total(const StackedColumn& column) {
  return std::accumulate(column.values.begin(), column.values.end(), 0.0);
}

void draw_column(const ColumnChart& chart, const StackedColumn& column, const Scale& y, double left,
                 double right, Canvas* canvas) {
  double level = 0;
  for (size_t part = 0; part < column.values.size(); ++part) {
    const double next = level + column.values[part];
    if (next > level)
      canvas->box({left, y.place(next), right, y.place(level)},
                  canvas->theme().series(chart.parts[part].color));
    level = next;
  }
}

void draw_y_axis(const ColumnChart& chart, const Scale& y, const Area& plot, double title_left,
                 Canvas* canvas) {
  for (const double tick : y.ticks()) {
    canvas->line({plot.left, y.place(tick)}, {plot.right, y.place(tick)}, canvas->theme().grid);
    canvas->muted({plot.left - 8, y.place(tick) + 4}, tick_text(tick), plot.left, kTextSize, Anchor::kEnd);
  }
  canvas->muted({title_left, plot.top - 10}, chart.y.title, plot.right - title_left);
}

}  // namespace

double wanted_height(const ColumnChart&, double width) { return std::min(0.46 * width, 400.0); }

void draw(const ColumnChart& chart, const Area& area, Canvas* canvas) {
  const double legend = draw_parts(chart.parts, area, canvas);
  Area plot{area.left, area.top + legend + kTitleRoom, area.right, area.bottom - kAxisRoom};
  Extent extent;
  for (const StackedColumn& column : chart.columns) extent.add(total(column));
  const Scale y(chart.y, extent, plot.bottom, plot.top, 38);
  std::vector<std::string> labels;
  for (const double tick : y.ticks()) labels.push_back(tick_text(tick));
  plot.left += canvas->width_of(labels, kTextSize, area.width() / 4) + 10;
  draw_y_axis(chart, y, plot, area.left, canvas);
  const double slot = plot.width() / static_cast<double>(std::max<size_t>(chart.columns.size(), 1));
  const double half = (slot < 4 ? slot : slot * 0.82) / 2;
  double free_from = -INFINITY;
  for (size_t i = 0; i < chart.columns.size(); ++i) {
    const double middle = plot.left + slot * (static_cast<double>(i) + 0.5);
    draw_column(chart, chart.columns[i], y, middle - half, middle + half, canvas);
    const std::string& name = chart.columns[i].name;
    const double wide = canvas->width_of(name);
    if (middle - wide / 2 < free_from) continue;
    canvas->muted({middle, plot.bottom + 18}, name, wide + 1, kTextSize, Anchor::kMiddle);
    free_from = middle + wide / 2 + 8;
  }
  canvas->line({plot.left, plot.bottom}, {plot.right, plot.bottom}, canvas->theme().axis);
  canvas->muted({(plot.left + plot.right) / 2, plot.bottom + 36}, chart.x_title, plot.width(), kTextSize,
                Anchor::kMiddle);
}

}  // namespace hone::report
