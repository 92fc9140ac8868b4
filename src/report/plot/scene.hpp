// A figure after layout: shapes and texts with their positions, in drawing order. Lengths are in pixels of
// the SVG file; y grows downward.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace hone::report {

struct Color {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
  double alpha = 1;
};

struct Place {
  double x = 0;
  double y = 0;
};

/// A line through the points, or the area that they enclose.
struct Shape {
  std::vector<Place> points;
  bool closed = false;
  std::optional<Color> fill = std::nullopt;
  std::optional<Color> stroke = std::nullopt;
  double line_width = 1;
  bool dashed = false;
};

struct Circle {
  Place center;
  double radius = 0;
  std::optional<Color> fill;
  std::optional<Color> stroke;
  double line_width = 1;
};

enum class Anchor : uint8_t { kStart, kMiddle, kEnd };

/// One line of text whose baseline begins at `at`. The text is valid UTF-8 without control characters.
struct Label {
  Place at;
  std::string text;
  double size = 12;
  bool bold = false;
  Anchor anchor = Anchor::kStart;
  Color color;
};

struct Scene {
  double width = 0;
  double height = 0;
  Color background;
  std::string title;  ///< for screen readers
  std::string description;
  std::vector<std::variant<Shape, Circle, Label>> items;
};

/// The width of a text in pixels.
using TextMeasure = std::function<double(const std::string& text, double size, bool bold)>;

}  // namespace hone::report
