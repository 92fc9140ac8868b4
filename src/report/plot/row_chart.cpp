// Draws names at the left, bars, boxes or dots in the middle, and values at the right; see charts.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/plot/charts.hpp"
#include "report/plot/scale.hpp"
#include "report/plot/ticks.hpp"

namespace hone::report {
namespace {

constexpr double kRow = 22;
constexpr double kLeastRow = 15;
constexpr double kAxisRoom = 44;
/// Limit on the number of rows in one picture.
constexpr size_t kMostRows = 100;

Extent values_of(const RowChart& chart) {
  Extent extent;
  extent.add(chart.value.reference);
  for (const Row& row : chart.rows) {
    for (const Bar& bar : row.bars) {
      extent.add(bar.from);
      extent.add(bar.to);
    }
    if (row.whisker) extent.add(row.whisker->second);
    if (row.box) {
      extent.add(row.box->low);
      extent.add(row.box->high);
    }
    if (!row.dot) continue;
    extent.add(row.dot->y);
    extent.add(row.dot->low);
    extent.add(row.dot->high);
  }
  return extent;
}

void draw_axis(const RowChart& chart, const Scale& scale, const Area& plot, Canvas* canvas) {
  const Theme& theme = canvas->theme();
  double free_from = -INFINITY;
  for (const double tick : scale.ticks()) {
    const double at = scale.place(tick);
    canvas->line({at, plot.top}, {at, plot.bottom}, theme.grid);
    const double half = canvas->width_of(tick_text(tick)) / 2;
    if (at - half < free_from) continue;
    canvas->muted({at, plot.bottom + 18}, tick_text(tick), 2 * half + 1, kTextSize, Anchor::kMiddle);
    free_from = at + half + 6;
  }
  canvas->muted({(plot.left + plot.right) / 2, plot.bottom + 36},
                chart.value.title + (chart.value.log ? " (log scale)" : ""), plot.width() + 80, kTextSize,
                Anchor::kMiddle);
  if (chart.value.reference)
    canvas->line({scale.place(*chart.value.reference), plot.top},
                 {scale.place(*chart.value.reference), plot.bottom}, theme.ink, 1.2, true);
}

void draw_bars(const Row& row, const RowChart& chart, const Scale& scale, const Area& place, Canvas* canvas) {
  for (const Bar& bar : row.bars) {
    if (bar.from == bar.to) continue;
    const double from = scale.place(std::min(bar.from, bar.to));
    const double to = scale.place(std::max(bar.from, bar.to));
    // A bar is at least one pixel wide, even for tiny values.
    canvas->box({from, place.top, std::max(to, from + 1), place.bottom},
                canvas->theme().series(chart.parts[bar.part].color));
  }
  if (!row.whisker) return;
  const double middle = (place.top + place.bottom) / 2;
  canvas->error_bar({scale.place(row.whisker->first), middle}, {scale.place(row.whisker->second), middle},
                    canvas->theme().ink, false);
}

void draw_box(const Row& row, const Scale& scale, const Area& place, Canvas* canvas) {
  const Color color = canvas->theme().series(row.style.color);
  Color pale = color;
  pale.alpha = 0.35;
  const double middle = (place.top + place.bottom) / 2;
  for (const auto& [box_end, whisker_end] :
       {std::pair(row.box->q1, row.box->low), std::pair(row.box->q3, row.box->high)}) {
    const double at = scale.place(whisker_end);
    canvas->line({scale.place(box_end), middle}, {at, middle}, color, 1.3);
    canvas->line({at, middle - 3}, {at, middle + 3}, color, 1.3);
  }
  canvas->frame({scale.place(row.box->q1), place.top, scale.place(row.box->q3), place.bottom}, pale, color);
  const double median = scale.place(row.box->median);
  canvas->line({median, place.top}, {median, place.bottom}, canvas->theme().ink, 2);
}

void draw_dot(const Row& row, const Scale& scale, double middle, Canvas* canvas) {
  const Color color = canvas->theme().series(row.style.color);
  if (row.dot->low && row.dot->high)
    canvas->error_bar({scale.place(*row.dot->low), middle}, {scale.place(*row.dot->high), middle}, color,
                      false);
  canvas->marker({scale.place(row.dot->y), middle}, row.style.marker, color, !row.dot->valid);
}

/// Connects the end of a bar to the beginning of the next one.
void connect(const Row& row, const Scale& scale, double from, double to, Canvas* canvas) {
  const double at = scale.place(row.bars.back().to);
  canvas->line({at, from}, {at, to}, canvas->theme().axis);
}

/// The horizontal positions of the columns of a row.
struct Columns {
  Area area;
  Area plot;
};

void draw_row(const RowChart& chart, size_t index, const Scale& scale, const Columns& at, double height,
              Canvas* canvas) {
  const Row& row = chart.rows[index];
  const double top = at.plot.top + height * static_cast<double>(index);
  const double middle = top + height / 2;
  const double inset = std::max(2.0, height * 0.16);
  const Area place{at.plot.left, top + inset, at.plot.right, top + height - inset};
  if (row.heading) {
    canvas->muted({at.area.left, middle + 4}, row.name, at.plot.left - at.area.left - 10);
    return;
  }
  canvas->text({at.plot.left - 10, middle + 4}, row.name, at.plot.left - at.area.left - 10, kTextSize,
               Anchor::kEnd);
  draw_bars(row, chart, scale, place, canvas);
  if (row.box) draw_box(row, scale, place, canvas);
  if (row.dot) draw_dot(row, scale, middle, canvas);
  canvas->muted({at.plot.right + 12, middle + 4}, row.text, at.area.right - at.plot.right - 12);
}

}  // namespace

double wanted_height(const RowChart& chart, double width) {
  const double legend = chart.parts.empty() ? 0 : width < 640 ? 42 : 23;
  return legend + kRow * static_cast<double>(std::min(chart.rows.size(), kMostRows)) + kAxisRoom;
}

void draw(const RowChart& chart, const Area& area, Canvas* canvas) {
  const double top = area.top + draw_parts(chart.parts, area, canvas);
  const double room = area.bottom - kAxisRoom - top;
  // One line is reserved for the number of rows that do not fit.
  const auto fitting = static_cast<size_t>(std::max(2.0, room / kLeastRow));
  const size_t most = std::min(kMostRows, fitting);
  const size_t shown = chart.rows.size() <= most ? chart.rows.size() : most - 1;
  const size_t lines = shown < chart.rows.size() ? shown + 1 : shown;
  const double height = std::min(kRow * 1.3, room / static_cast<double>(std::max<size_t>(lines, 1)));

  std::vector<std::string> names;
  std::vector<std::string> texts;
  for (const Row& row : chart.rows) {
    names.push_back(row.name);
    texts.push_back(row.text);
  }
  Columns at{area, {area.left, top, area.right, top + height * static_cast<double>(lines)}};
  at.plot.left += canvas->width_of(names, kTextSize, 0.36 * area.width()) + 10;
  at.plot.right -= canvas->width_of(texts, kTextSize, 0.26 * area.width()) + 14;
  const Scale scale(chart.value, values_of(chart), at.plot.left, at.plot.right, 50);
  draw_axis(chart, scale, at.plot, canvas);
  for (size_t i = 0; i < shown; ++i) {
    if (chart.connected && i + 1 < shown) {
      const double bottom = top + height * static_cast<double>(i + 1);
      connect(chart.rows[i], scale, bottom - height / 2, bottom + height / 2, canvas);
    }
  }
  for (size_t i = 0; i < shown; ++i) draw_row(chart, i, scale, at, height, canvas);
  if (shown < chart.rows.size())
    canvas->muted({at.plot.left - 10, at.plot.bottom - height / 2 + 4},
                  fmt::format("… and {} more", chart.rows.size() - shown), at.plot.left - area.left - 10,
                  kTextSize, Anchor::kEnd);
}

}  // namespace hone::report
