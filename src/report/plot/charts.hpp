// Lays out the three kinds of charts; each draws into an area that has its sizes, axes, legend and all.
#pragma once

#include <string>
#include <vector>

#include "report/plot/canvas.hpp"
#include "report/plot/figure.hpp"

namespace hone::report {

/// Pixels that suit the chart in a picture of this width.
double wanted_height(const LineChart& chart, double width);
double wanted_height(const RowChart& chart, double width);
double wanted_height(const ColumnChart& chart, double width);

void draw(const LineChart& chart, const Area& area, Canvas* canvas);
void draw(const RowChart& chart, const Area& area, Canvas* canvas);
void draw(const ColumnChart& chart, const Area& area, Canvas* canvas);

/// Draws parts from left to right, on several lines if need be, and returns the height of it all. Nothing for
/// no parts.
double draw_parts(const std::vector<Part>& parts, const Area& area, Canvas* canvas);

}  // namespace hone::report
