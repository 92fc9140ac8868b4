// See resize_taps.hpp.
#include "graph/resize_taps.hpp"

#include <algorithm>
#include <cmath>

#include "graph/cubic_weight.hpp"

namespace hone::graph {
namespace {

double nearest_position(const std::string& mode, double x) {
  if (mode == "round_prefer_floor") return std::ceil(x - 0.5);
  if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
  return mode == "floor" ? std::floor(x) : std::ceil(x);
}

bool is_extrapolated(const ResizeOptions& options, const ResizeAxis& axis, double x) {
  return options.coordinates == "tf_crop_and_resize" && (x < 0 || x > static_cast<double>(axis.input - 1));
}

/// The taps of the filter around `x`, which is wider if antialiasing shrinks the image; weights sum to 1.
ResizeTaps interpolation_taps(const ResizeOptions& options, const ResizeAxis& axis, double x) {
  const bool cubic = options.mode == "cubic";
  const double stretch = options.antialias ? std::min(1.0, axis.scale) : 1.0;
  const double radius = std::ceil((cubic ? 2 : 1) / stretch);
  ResizeTaps taps;
  double sum = 0;
  for (double i = std::floor(x) - radius + 1; i <= std::floor(x) + radius; ++i) {
    const double distance = (i - x) * stretch;
    double weight = cubic ? cubic_weight(distance, options.cubic) : std::max(0.0, 1 - std::abs(distance));
    const double clamped = std::clamp(i, 0.0, static_cast<double>(axis.input - 1));
    if (options.exclude_outside && clamped != i) weight = 0;
    taps.positions.push_back(static_cast<int64_t>(clamped));
    taps.weights.push_back(weight);
    sum += weight;
  }
  if (sum == 0 || !(options.antialias || options.exclude_outside)) return taps;
  for (double& weight : taps.weights) weight /= sum;
  return taps;
}

ResizeTaps taps_at(const ResizeOptions& options, const ResizeAxis& axis, int64_t o) {
  const double x = resize_coordinate(options.coordinates, axis, o);
  if (is_extrapolated(options, axis, x) || !std::isfinite(x)) return {};
  if (options.mode != "nearest") return interpolation_taps(options, axis, x);
  const double nearest =
      std::clamp(nearest_position(options.nearest, x), 0.0, static_cast<double>(axis.input - 1));
  return {{static_cast<int64_t>(nearest)}, {1.0}};
}

}  // namespace

ResizeOptions::ResizeOptions(const Attributes& attributes)
    : mode(attributes.get_string("mode")),
      nearest(attributes.get_string("nearest_mode")),
      coordinates(attributes.get_string("coordinate_transformation_mode")),
      antialias(attributes.get_int("antialias") != 0),
      exclude_outside(attributes.get_int("exclude_outside") != 0),
      cubic(attributes.get_float("cubic_coeff_a")),
      extrapolation(attributes.get_float("extrapolation_value")) {}

std::vector<ResizeTaps> resize_taps(const ResizeOptions& options, const ResizeAxis& axis) {
  std::vector<ResizeTaps> result;
  for (int64_t o = 0; o < axis.output; ++o) result.push_back(taps_at(options, axis, o));
  return result;
}

}  // namespace hone::graph
