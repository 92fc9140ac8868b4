// Checks of reduction.hpp.
#include "device/cuda/plugin/kernels/layers/reduction.hpp"

#include <algorithm>
#include <cmath>

#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

struct Shape {
  int64_t outer, axis, inner;
};

double expect_reduction(ReductionKind kind, const std::vector<double>& x) {
  double sum = 0, absolute = 0, squares = 0, exponentials = 0, product = 1;
  for (const double value : x) {
    sum += value;
    absolute += std::abs(value);
    squares += value * value;
    exponentials += std::exp(value);
    product *= value;
  }
  switch (kind) {
    case ReductionKind::kSum: return sum;
    case ReductionKind::kMean: return sum / static_cast<double>(x.size());
    case ReductionKind::kMaximum: return *std::max_element(x.begin(), x.end());
    case ReductionKind::kMinimum: return *std::min_element(x.begin(), x.end());
    case ReductionKind::kProduct: return product;
    case ReductionKind::kL1: return absolute;
    case ReductionKind::kL2: return std::sqrt(squares);
    case ReductionKind::kSumSquare: return squares;
    case ReductionKind::kLogSum: return std::log(sum);
    case ReductionKind::kLogSumExp: return std::log(exponentials);
  }
  return 0;
}

std::vector<double> values_of(const Values& x, const Shape& shape, int64_t i) {
  std::vector<double> result;
  for (int64_t k = 0; k < shape.axis; ++k)
    result.push_back(x[(i / shape.inner * shape.axis + k) * shape.inner + i % shape.inner]);
  return result;
}

void check_reduce(Family& family, FloatType type, ReductionKind kind, const Shape& shape) {
  const double low = kind == ReductionKind::kLogSum ? 0.5 : kind == ReductionKind::kProduct ? 0.9 : -1;
  const Values x(shape.outer * shape.axis * shape.inner, type, low, 1.1);
  Output y(shape.outer * shape.inner, type);
  const std::string what = "reduction " + std::to_string(static_cast<int>(kind)) + " of " +
                           std::to_string(shape.axis) + " by " + std::to_string(shape.inner);
  family.launched(reduce(x.get(), y.get(), type, kind, shape.outer, shape.axis, shape.inner, {}), what);
  for (int64_t i = 0; i < shape.outer * shape.inner; ++i)
    y[i] = expect_reduction(kind, values_of(x, shape, i));
  // n additions of partial sums up to 1.25 n.
  const auto n = static_cast<double>(shape.axis);
  family.compare(y, kFloatRoundoff * (16 + 1.25 * n * std::sqrt(n)), what);
}

void check_arg(Family& family, FloatType type, bool largest, bool last, const Shape& shape) {
  // Coarse values, so that equal ones occur.
  std::vector<double> coarse = Values(shape.outer * shape.axis * shape.inner, type, -4, 4).host;
  for (double& value : coarse) value = std::round(value);
  if (coarse.size() > 50) coarse[50] = std::nan("");
  const Values x(coarse, type);
  DeviceBuffer y(static_cast<size_t>(shape.outer * shape.inner) * sizeof(int64_t));
  family.launched(arg_extreme(x.get(), static_cast<int64_t*>(y.get()), type, largest, last, shape.outer,
                              shape.axis, shape.inner, {}),
                  "arg");
  std::vector<int64_t> out(static_cast<size_t>(shape.outer * shape.inner));
  y.download(out.data());
  for (int64_t i = 0; i < shape.outer * shape.inner; ++i) {
    const std::vector<double> values = values_of(x, shape, i);
    size_t best = 0;
    for (size_t k = 1; k < values.size(); ++k) {
      const bool nan = std::isnan(values[k]), best_nan = std::isnan(values[best]);
      const bool better =
          nan ? !best_nan : !best_nan && (largest ? values[k] > values[best] : values[k] < values[best]);
      const bool equal = values[k] == values[best] || (nan && best_nan);
      if (better || (last && equal)) best = k;
    }
    if (out[static_cast<size_t>(i)] != static_cast<int64_t>(best)) {
      family.expect(false, "arg of " + std::to_string(shape.axis) + " at " + std::to_string(i));
      return;
    }
  }
}

}  // namespace

void check_reduction() {
  Family family("reduction");
  for (const FloatType type : kFloatTypes) {
    for (const Shape& shape : {Shape{5, 100, 1}, Shape{3, 17, 21}, Shape{0, 4, 4}, Shape{300, 3, 1}}) {
      for (int kind = 0; kind <= static_cast<int>(ReductionKind::kLogSumExp); ++kind)
        check_reduce(family, type, static_cast<ReductionKind>(kind), shape);
      for (const bool largest : {false, true}) {
        check_arg(family, type, largest, false, shape);
        check_arg(family, type, largest, true, shape);
      }
    }
  }
}

}  // namespace hone::device::cuda::check
