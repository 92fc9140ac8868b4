// Lays out the three kinds of charts. Each draws into an area that also contains its axes and its legend.
#pragma once

#include <string>
#include <vector>

#include "report/plot/canvas.hpp"
#include "report/plot/figure.hpp"

namespace hone::report {

/// A suitable height in pixels for the chart in a picture of this width.
double wanted_height(const LineChart& chart, double width);
double wanted_height(const RowChart& chart, double width);
double wanted_height(const ColumnChart& chart, double width);

void draw(const LineChart& chart, const Area& area, Canvas* canvas);
void draw(const RowChart& chart, const Area& area, Canvas* canvas);
void draw(const ColumnChart& chart, const Area& area, Canvas* canvas);

/// Draws the legend's parts from left to right, on several lines if necessary, and returns the total height;
/// 0 if there are no parts.
double draw_parts(const std::vector<Part>& parts, const Area& area, Canvas* canvas);

}  // namespace hone::report
