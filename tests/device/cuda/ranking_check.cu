// Checks of ranking.hpp.
#include "device/cuda/plugin/kernels/layers/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

struct Shape {
  int64_t outer, axis, inner;
};

std::vector<double> row_of(const Values& x, const Shape& shape, int64_t i) {
  std::vector<double> result;
  for (int64_t k = 0; k < shape.axis; ++k)
    result.push_back(x[(i / shape.inner * shape.axis + k) * shape.inner + i % shape.inner]);
  return result;
}

bool less(double a, double b) { return a < b || (!std::isnan(a) && std::isnan(b)); }

void check_top(Family& family, FloatType type, bool largest, const Shape& shape, int64_t k) {
  // Coarse values, so that equal ones occur.
  std::vector<double> coarse = Values(shape.outer * shape.axis * shape.inner, type, -9, 9).host;
  for (double& value : coarse) value = std::round(value);
  if (coarse.size() > 50) coarse[50] = std::nan("");
  const Values x(coarse, type);
  Output y(shape.outer * k * shape.inner, type);
  DeviceBuffer places(y.expected.size() * sizeof(int64_t));
  const std::string what = std::to_string(k) + " of " + std::to_string(shape.axis);
  family.launched(top_k(x.get(), y.get(), static_cast<int64_t*>(places.get()), type, largest, shape.outer,
                        shape.axis, shape.inner, k, {}),
                  what);
  std::vector<int64_t> indices(y.expected.size()), expected(y.expected.size());
  for (int64_t i = 0; i < shape.outer * shape.inner; ++i) {
    const std::vector<double> values = row_of(x, shape, i);
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return largest ? less(values[b], values[a]) : less(values[a], values[b]);
    });
    for (int64_t n = 0; n < k; ++n) {
      const int64_t to = (i / shape.inner * k + n) * shape.inner + i % shape.inner;
      y[to] = values[order[static_cast<size_t>(n)]];
      expected[static_cast<size_t>(to)] = static_cast<int64_t>(order[static_cast<size_t>(n)]);
    }
  }
  family.compare(y, 0, what);
  places.download(indices.data());
  family.expect(indices == expected, "places of " + what);
}

void check_sums(Family& family, FloatType type, bool exclusive, bool reverse, const Shape& shape) {
  const Values x(shape.outer * shape.axis * shape.inner, type);
  Output y(shape.outer * shape.axis * shape.inner, type);
  const std::string what = "sums of " + std::to_string(shape.axis) + " by " + std::to_string(shape.inner);
  family.launched(
      cumulative_sum(x.get(), y.get(), type, exclusive, reverse, shape.outer, shape.axis, shape.inner, {}),
      what);
  for (int64_t i = 0; i < shape.outer * shape.inner; ++i) {
    const std::vector<double> values = row_of(x, shape, i);
    double sum = 0;
    for (int64_t n = 0; n < shape.axis; ++n) {
      const int64_t k = reverse ? shape.axis - 1 - n : n;
      const double before = sum;
      sum += values[static_cast<size_t>(k)];
      y[(i / shape.inner * shape.axis + k) * shape.inner + i % shape.inner] = exclusive ? before : sum;
    }
  }
  // Every sum goes through 5 additions of a warp and one per 32 elements, of partial sums up to the axis.
  const auto n = static_cast<double>(shape.axis);
  family.compare(y, kFloatRoundoff * (6 + n / 32) * n, what);
}

}  // namespace

void check_ranking() {
  Family family("ranking");
  for (const FloatType type : kFloatTypes) {
    for (const bool flag : {false, true}) {
      check_top(family, type, flag, {5, 100, 1}, 7);
      check_top(family, type, flag, {3, 17, 21}, 17);
      check_top(family, type, flag, {2, 1000, 1}, 1);
      check_top(family, type, flag, {2, 5, 3}, 0);
      for (const bool reverse : {false, true}) {
        check_sums(family, type, flag, reverse, {5, 100, 1});
        check_sums(family, type, flag, reverse, {3, 17, 21});
        check_sums(family, type, flag, reverse, {2, 1, 3});
        check_sums(family, type, flag, reverse, {0, 4, 4});
      }
    }
  }
}

}  // namespace hone::device::cuda::check
