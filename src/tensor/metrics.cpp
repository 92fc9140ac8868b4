// See metrics.hpp.
#include "tensor/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace hone::tensor {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Sums {
  double difference = 0;  ///< sum of squares, like the next two
  double actual = 0;
  double reference = 0;
  double product = 0;
  double largest = 0;
  bool broken = false;  ///< an element is not finite on only one side
};

void require_same_shape(const Tensor& actual, const Tensor& reference) {
  if (actual.shape() == reference.shape()) return;
  fail_bad_input("outputs of shape {} and {} cannot be compared", shape_text(actual.shape()),
                 shape_text(reference.shape()));
}

Sums add_up(const Tensor& actual_tensor, const Tensor& reference_tensor) {
  require_same_shape(actual_tensor, reference_tensor);
  const auto actual = actual_tensor.to_double();
  const auto reference = reference_tensor.to_double();
  Sums sums;
  for (size_t i = 0; i < actual.size(); ++i) {
    const double a = actual[i];
    const double r = reference[i];
    if (!std::isfinite(a) || !std::isfinite(r)) {
      sums.broken = sums.broken || !(a == r || (std::isnan(a) && std::isnan(r)));
      continue;
    }
    sums.difference += (a - r) * (a - r);
    sums.actual += a * a;
    sums.reference += r * r;
    sums.product += a * r;
    sums.largest = std::max(sums.largest, std::abs(a - r));
  }
  return sums;
}

double ratio(double numerator, double denominator) {
  if (numerator == 0) return 0;
  return denominator == 0 ? kInfinity : numerator / denominator;
}

/// Index of the largest element; NaN is never the largest.
size_t arg_max(std::span<const double> row) {
  size_t best = 0;
  for (size_t i = 1; i < row.size(); ++i) {
    if (row[i] > row[best] || (std::isnan(row[best]) && !std::isnan(row[i]))) best = i;
  }
  return best;
}

double agreement(std::span<const double> actual, std::span<const double> reference, size_t width) {
  if (width == 0 || actual.empty()) return 1;
  size_t agreed = 0;
  for (size_t at = 0; at < actual.size(); at += width) {
    agreed += arg_max(actual.subspan(at, width)) == arg_max(reference.subspan(at, width)) ? 1 : 0;
  }
  const size_t rows = actual.size() / width;
  return static_cast<double>(agreed) / static_cast<double>(rows);
}

}  // namespace

double relative_l2(const Tensor& actual, const Tensor& reference) {
  const Sums sums = add_up(actual, reference);
  return sums.broken ? kInfinity : ratio(std::sqrt(sums.difference), std::sqrt(sums.reference));
}

double max_abs(const Tensor& actual, const Tensor& reference) {
  const Sums sums = add_up(actual, reference);
  return sums.broken ? kInfinity : sums.largest;
}

double cosine(const Tensor& actual, const Tensor& reference) {
  const Sums sums = add_up(actual, reference);
  if (sums.broken) return 0;
  if (sums.actual == 0 && sums.reference == 0) return 1;
  return ratio(sums.product, std::sqrt(sums.actual) * std::sqrt(sums.reference));
}

double top1_agreement(const Tensor& actual, const Tensor& reference) {
  require_same_shape(actual, reference);
  const size_t width = actual.rank() == 0 ? 1 : static_cast<size_t>(actual.shape().back());
  return agreement(actual.to_double(), reference.to_double(), width);
}

}  // namespace hone::tensor
