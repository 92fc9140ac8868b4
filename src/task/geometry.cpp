// See geometry.hpp.
#include "task/geometry.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/error.hpp"

namespace hone::task {
namespace {

constexpr std::array<std::pair<Fit, std::string_view>, 4> kNames{{{Fit::kStretch, "stretch"},
                                                                  {Fit::kLetterbox, "letterbox"},
                                                                  {Fit::kCorner, "corner"},
                                                                  {Fit::kDarknet, "darknet"}}};

/// A side is at least 1, even for extreme shapes.
int64_t side(double value) { return std::max<int64_t>(1, static_cast<int64_t>(value)); }

/// Computes ih * w / iw in integers, like darknet's letterbox_image.
void place_darknet(Geometry* g) {
  const bool wide = g->input_width * g->image_height < g->input_height * g->image_width;
  g->width = wide ? g->input_width : std::max<int64_t>(1, g->image_width * g->input_height / g->image_height);
  g->height =
      wide ? std::max<int64_t>(1, g->image_height * g->input_width / g->image_width) : g->input_height;
  g->left = (g->input_width - g->width) / 2;
  g->top = (g->input_height - g->height) / 2;
  g->x_scale = static_cast<double>(g->width) / static_cast<double>(g->image_width);
  g->y_scale = static_cast<double>(g->height) / static_cast<double>(g->image_height);
  g->x_shift = static_cast<double>(g->input_width - g->width) / 2;
  g->y_shift = static_cast<double>(g->input_height - g->height) / 2;
}

void place_with_one_scale(Fit fit, double x_scale, double y_scale, Geometry* g) {
  const double scale = std::min(x_scale, y_scale);
  const double width = static_cast<double>(g->image_width) * scale;
  const double height = static_cast<double>(g->image_height) * scale;
  g->x_scale = scale;
  g->y_scale = scale;
  if (fit == Fit::kCorner) {
    g->width = side(width);
    g->height = side(height);
    return;
  }
  g->width = side(std::nearbyint(width));
  g->height = side(std::nearbyint(height));
  // If a margin is odd, the larger half is at the right or at the bottom.
  constexpr double kToTheLeft = 0.1;
  const auto margin = [](int64_t whole, int64_t part) {
    return static_cast<int64_t>(std::nearbyint(static_cast<double>(whole - part) / 2 - kToTheLeft));
  };
  g->left = margin(g->input_width, g->width);
  g->top = margin(g->input_height, g->height);
  g->x_shift = static_cast<double>(g->left);
  g->y_shift = static_cast<double>(g->top);
}

}  // namespace

std::string_view fit_name(Fit fit) {
  for (const auto& [value, name] : kNames)
    if (value == fit) return name;
  fail_internal("a fit without a name");
}

Fit parse_fit(std::string_view name) {
  for (const auto& [value, text] : kNames)
    if (text == name) return value;
  fail_usage("'{}' is no way to fit an image: stretch, letterbox, corner or darknet", name);
}

Geometry place_image(Fit fit, int64_t image_width, int64_t image_height, int64_t input_width,
                     int64_t input_height) {
  Geometry g{image_width, image_height, input_width, input_height, 0, 0, input_width, input_height};
  const double x_scale = static_cast<double>(input_width) / static_cast<double>(image_width);
  const double y_scale = static_cast<double>(input_height) / static_cast<double>(image_height);
  if (fit == Fit::kDarknet) {
    place_darknet(&g);
  } else if (fit == Fit::kStretch) {
    g.x_scale = x_scale;
    g.y_scale = y_scale;
  } else {
    place_with_one_scale(fit, x_scale, y_scale, &g);
  }
  return g;
}

engine::BoxPlace box_place(const Geometry& g) {
  return {.image_width = static_cast<float>(g.image_width),
          .image_height = static_cast<float>(g.image_height),
          .x_shift = g.x_shift,
          .y_shift = g.y_shift,
          .x_scale = g.x_scale,
          .y_scale = g.y_scale};
}

}  // namespace hone::task
