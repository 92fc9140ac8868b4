// From a figure to a scene: title, subtitle, chart and notes below each other, nothing over anything else.
#pragma once

#include <optional>

#include "report/plot/figure.hpp"
#include "report/plot/scene.hpp"
#include "report/plot/theme.hpp"

namespace hone::report {

/// Below these, titles and axes fill the whole picture; above, nobody can look at it.
constexpr double kLeastSide = 320;
constexpr double kMostSide = 8000;

struct PlotStyle {
  double width = 900;                           ///< pixels
  std::optional<double> height = std::nullopt;  ///< what the figure wants when it is not given
  const Theme* theme = &kLightTheme;
};

Scene lay_out(const Figure& figure, const PlotStyle& style, const TextMeasure& measure);

}  // namespace hone::report
