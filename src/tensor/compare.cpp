// See compare.hpp.
#include "tensor/compare.hpp"

#include <fmt/format.h>

#include <cmath>

namespace hone::tensor {
namespace {

bool close(double actual, double expected, const Tolerance& tolerance) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return actual == expected;
  return std::fabs(actual - expected) <= tolerance.absolute + tolerance.relative * std::fabs(expected);
}

}  // namespace

std::optional<std::string> difference(const Tensor& actual, const Tensor& expected,
                                      const Tolerance& tolerance) {
  if (actual.dtype() != expected.dtype() || actual.shape() != expected.shape()) {
    return fmt::format("is {}[{}], expected {}[{}]", dtype_name(actual.dtype()), shape_text(actual.shape()),
                       dtype_name(expected.dtype()), shape_text(expected.shape()));
  }
  int64_t count = 0;
  size_t first = 0;
  double worst = 0;
  const auto note = [&](size_t i, double distance) {
    if (count++ == 0) first = i;
    worst = std::fmax(worst, distance);
  };
  visit_dtype(actual.dtype(), [&]<class T>() {
    const auto a = actual.values<T>();
    const auto e = expected.values<T>();
    for (size_t i = 0; i < a.size(); ++i) {
      const auto left = static_cast<double>(a[i]);
      const auto right = static_cast<double>(e[i]);
      const bool good = is_floating(actual.dtype()) ? close(left, right, tolerance) : a[i] == e[i];
      if (!good) note(i, std::fabs(left - right));
    }
  });
  if (count == 0) return std::nullopt;
  return fmt::format("differs in {} of {} elements, first at {} ({} for {}), by at most {:.3g}", count,
                     actual.size(), first, actual.to_double()[first], expected.to_double()[first], worst);
}

}  // namespace hone::tensor
