// See canvas.hpp.
#include "report/plot/canvas.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "report/plot/text_fit.hpp"

namespace hone::report {
namespace {

constexpr double kMarkerRadius = 4.2;

/// Corners around the centre, for a radius of 1; a circle has no corners.
const std::array<std::vector<Place>, kMarkers> kMarkerShapes = {{
    {},
    {{0, -1.2}, {1.1, 0.8}, {-1.1, 0.8}},
    {{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}},
    {{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}},
    {{0, 1.2}, {1.1, -0.8}, {-1.1, -0.8}},
    {{1.2, 0}, {-0.8, 1.1}, {-0.8, -1.1}},
}};

}  // namespace

double Canvas::width_of(const std::string& text, double size) const { return measure_(text, size, false); }

double Canvas::width_of(const std::vector<std::string>& texts, double size, double most) const {
  double widest = 0;
  for (const std::string& text : texts)
    widest = std::max(widest, width_of(fit_text(text, most, size, false, measure_), size));
  return widest;
}

void Canvas::add_text(Place at, const std::string& text, double most, double size, bool bold, Anchor anchor,
                      Color color) {
  std::string fitting = fit_text(text, most, size, bold, measure_);
  if (!fitting.empty()) scene_.items.emplace_back(Label{at, std::move(fitting), size, bold, anchor, color});
}

void Canvas::text(Place at, const std::string& text, double most, double size, Anchor anchor) {
  add_text(at, text, most, size, false, anchor, theme_.ink);
}

void Canvas::muted(Place at, const std::string& text, double most, double size, Anchor anchor) {
  add_text(at, text, most, size, false, anchor, theme_.muted);
}

void Canvas::title(Place at, const std::string& text, double most) {
  add_text(at, text, most, kTitleSize, true, Anchor::kStart, theme_.ink);
}

void Canvas::line(Place from, Place to, Color color, double line_width, bool dashed) {
  path({from, to}, color, line_width, dashed);
}

void Canvas::path(std::vector<Place> points, Color color, double line_width, bool dashed) {
  scene_.items.emplace_back(Shape{std::move(points), false, std::nullopt, color, line_width, dashed});
}

void Canvas::box(const Area& area, Color fill) {
  scene_.items.emplace_back(Shape{
      {{area.left, area.top}, {area.right, area.top}, {area.right, area.bottom}, {area.left, area.bottom}},
      true,
      fill});
}

void Canvas::frame(const Area& area, Color fill, Color stroke) {
  box(area, fill);
  std::get<Shape>(scene_.items.back()).stroke = stroke;
}

void Canvas::marker(Place at, size_t shape, Color color, bool hollow) {
  const Color fill = hollow ? theme_.background : color;
  // A border in the background colour separates markers that touch.
  const Color rim = hollow ? color : theme_.background;
  const double rim_width = hollow ? 1.7 : 1;
  const std::vector<Place>& corners = kMarkerShapes[shape % kMarkers];
  if (corners.empty()) {
    scene_.items.emplace_back(Circle{at, kMarkerRadius, fill, rim, rim_width});
    return;
  }
  Shape drawn{{}, true, fill, rim, rim_width};
  for (const Place& corner : corners)
    drawn.points.push_back({at.x + kMarkerRadius * corner.x, at.y + kMarkerRadius * corner.y});
  scene_.items.emplace_back(std::move(drawn));
}

void Canvas::error_bar(Place low, Place high, Color color, bool vertical) {
  constexpr double kCap = 3;
  line(low, high, color, 1.3);
  for (const Place& end : {low, high}) {
    const double dx = vertical ? kCap : 0;
    const double dy = vertical ? 0 : kCap;
    line({end.x - dx, end.y - dy}, {end.x + dx, end.y + dy}, color, 1.3);
  }
}

}  // namespace hone::report
