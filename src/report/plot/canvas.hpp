// The canvas on which all charts draw: a growing scene, the theme, and the measured widths of texts.
#pragma once

#include <string>
#include <vector>

#include "report/plot/scene.hpp"
#include "report/plot/theme.hpp"

namespace hone::report {

/// Font sizes, in pixels.
constexpr double kTitleSize = 16;
constexpr double kTextSize = 12;
constexpr double kSmallSize = 11;

/// A part of the picture; y grows downward.
struct Area {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;

  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

class Canvas {
 public:
  Canvas(const Theme& theme, const TextMeasure& measure) : theme_(theme), measure_(measure) {}

  const Theme& theme() const { return theme_; }
  const TextMeasure& measure() const { return measure_; }
  Scene& scene() { return scene_; }
  double width_of(const std::string& text, double size = kTextSize) const;
  /// The width of the widest text, limited to `most`.
  double width_of(const std::vector<std::string>& texts, double size, double most) const;

  /// Draws text, cut in the middle if it is wider than `most`.
  void text(Place at, const std::string& text, double most, double size = kTextSize,
            Anchor anchor = Anchor::kStart);
  /// Draws text in the colour of less important parts.
  void muted(Place at, const std::string& text, double most, double size = kTextSize,
             Anchor anchor = Anchor::kStart);
  void title(Place at, const std::string& text, double most);
  void line(Place from, Place to, Color color, double line_width = 1, bool dashed = false);
  void path(std::vector<Place> points, Color color, double line_width, bool dashed);
  void box(const Area& area, Color fill);
  void frame(const Area& area, Color fill, Color stroke);
  /// Draws one of kMarkers shapes; hollow markers show the background.
  void marker(Place at, size_t shape, Color color, bool hollow);
  /// Draws from low to high with caps; if `vertical`, along y.
  void error_bar(Place low, Place high, Color color, bool vertical);

 private:
  void add_text(Place at, const std::string& text, double most, double size, bool bold, Anchor anchor,
                Color color);

  Scene scene_;
  const Theme& theme_;
  const TextMeasure& measure_;
};

}  // namespace hone::report
