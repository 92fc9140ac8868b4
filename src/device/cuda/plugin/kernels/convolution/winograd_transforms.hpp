// Minimal filtering of six values in a row (Winograd, "Arithmetic Complexity of Computations", 1980; Lavin
// and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016). Six products give 7 - taps outputs of
// a filter with `taps` taps: y = A^T ((G g) * (B^T d)). The polynomials are evaluated at 0, +-a, +-b and
// infinity with a = 5/8 and b = 3/2, which are exact in float and give half the error of the usual 1 and 2.
#pragma once

#include "base/host_device.hpp"

namespace hone::device::cuda::winograd {

constexpr int kPoints = 6;
constexpr float kA = 0.625f;
constexpr float kB = 1.5f;
constexpr float kA2 = kA * kA;
constexpr float kB2 = kB * kB;

/// v = B^T d, in place.
HONE_HOST_DEVICE void transform_input(float (&d)[kPoints]) {
  const float even_a = d[4] - kB2 * d[2];
  const float odd_a = kA * (d[3] - kB2 * d[1]);
  const float even_b = d[4] - kA2 * d[2];
  const float odd_b = kB * (d[3] - kA2 * d[1]);
  const float zero = kA2 * kB2 * d[0] + (d[4] - (kA2 + kB2) * d[2]);
  const float infinity = kA2 * kB2 * d[1] + (d[5] - (kA2 + kB2) * d[3]);
  d[0] = zero;
  d[1] = even_a + odd_a;
  d[2] = even_a - odd_a;
  d[3] = even_b + odd_b;
  d[4] = even_b - odd_b;
  d[5] = infinity;
}

/// y = A^T m, for 2 or 4 `outputs`.
template <int outputs>
HONE_HOST_DEVICE void transform_output(const float (&m)[kPoints], float (&y)[outputs]) {
  static_assert(outputs == 2 || outputs == 4);
  const float even_a = m[1] + m[2];
  const float odd_a = m[1] - m[2];
  const float even_b = m[3] + m[4];
  const float odd_b = m[3] - m[4];
  y[0] = m[0] + even_a + even_b;
  y[1] = kA * odd_a + kB * odd_b;
  if constexpr (outputs == 4) {
    y[2] = kA2 * even_a + kB2 * even_b;
    y[3] = kA * kA2 * odd_a + kB * kB2 * odd_b;
  }
  y[outputs - 1] += m[5];
}

/// u = G g in double, for `taps` values at a distance of `step`.
inline void transform_filter(const double* g, int taps, int step, double (&u)[kPoints]) {
  constexpr double kAa = double{kA} * kA;
  constexpr double kBb = double{kB} * kB;
  const auto at = [&](double x) {
    double sum = 0;
    for (int i = taps - 1; i >= 0; --i) sum = sum * x + g[i * step];
    return sum;
  };
  u[0] = g[0] / (kAa * kBb);
  u[1] = at(kA) / (2 * kAa * (kAa - kBb));
  u[2] = at(-kA) / (2 * kAa * (kAa - kBb));
  u[3] = at(kB) / (2 * kBb * (kBb - kAa));
  u[4] = at(-kB) / (2 * kBb * (kBb - kAa));
  u[5] = g[(taps - 1) * step];
}

}  // namespace hone::device::cuda::winograd
