// Lays out a figure as a scene: title, subtitle, chart and notes below each other, without overlaps.
#pragma once

#include <optional>

#include "report/plot/figure.hpp"
#include "report/plot/scene.hpp"
#include "report/plot/theme.hpp"

namespace hone::report {

/// In smaller pictures, titles and axes would take all the space; larger ones are too large to view.
constexpr double kLeastSide = 320;
constexpr double kMostSide = 8000;

struct PlotStyle {
  double width = 900;                           ///< pixels
  std::optional<double> height = std::nullopt;  ///< absent: the height that suits the figure
  const Theme* theme = &kLightTheme;
};

Scene lay_out(const Figure& figure, const PlotStyle& style, const TextMeasure& measure);

}  // namespace hone::report
