// The cubic convolution kernel for the interpolation in Resize and GridSample.
//
// Source: R. Keys, "Cubic convolution interpolation for digital image processing", 1981, equation (4).
#pragma once

#include <cmath>

namespace hone::graph {

/// Weight of a sample at this distance, for the coefficient `a` (usually -0.5 or -0.75); 0 from a distance of
/// 2 on.
inline double cubic_weight(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

}  // namespace hone::graph
