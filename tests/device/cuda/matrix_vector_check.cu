// Checks of matrix_vector.hpp.
#include "device/cuda/plugin/kernels/gemm/matrix_vector.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

void check_product(Family& family, FloatType type, FloatType result, const MatrixVector& size,
                   bool with_bias) {
  const Values x(size.rows * size.depth, type);
  const Values w(size.columns * size.depth, type);
  const Values bias(size.columns, FloatType::kFloat);
  Output y(size.rows * size.columns, result);
  const std::string what = std::string(type_name(type)) + " " + std::to_string(size.rows) + " x " +
                           std::to_string(size.depth) + " x " + std::to_string(size.columns);
  family.launched(matrix_vector(x.get(), w.get(), with_bias ? static_cast<const float*>(bias.get()) : nullptr,
                                y.get(), type, result, size, {}),
                  what);
  for (int64_t r = 0; r < size.rows; ++r) {
    for (int64_t c = 0; c < size.columns; ++c) {
      double sum = 0;
      for (int64_t k = 0; k < size.depth; ++k) sum += x[r * size.depth + k] * w[c * size.depth + k];
      const double value = size.alpha * sum + (with_bias ? bias[c] : 0);
      y[r * size.columns + c] = std::clamp<double>(value, size.low, size.high);
    }
  }
  // n products of magnitude up to 1, added in float.
  const auto n = static_cast<double>(size.depth);
  family.compare(y, kFloatRoundoff * (16 + n * std::sqrt(n)), what);
}

}  // namespace

void check_matrix_vector() {
  Family family("matrix vector");
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const FloatType type : kFloatTypes) {
    for (const FloatType result : {type, FloatType::kFloat}) {
      for (const int64_t rows : {1, 2, 3, 5, 8}) {
        check_product(family, type, result, {rows, 1000, 2048, 1, -kInfinity, kInfinity}, true);
        check_product(family, type, result, {rows, 13, 8, 1, -kInfinity, kInfinity}, false);
        check_product(family, type, result, {rows, 77, 2312, 0.5f, 0, kInfinity}, true);
        check_product(family, type, result, {rows, 40, 5000, 1, 0, 6}, true);
      }
    }
  }
  // Nothing beyond the depth takes part: zeros that stand for it would make NaN of infinities there.
  std::vector<double> values(16, std::numeric_limits<double>::infinity());
  std::fill_n(values.begin(), 8, 1.0);
  const Values x(values, FloatType::kFloat);
  const Values w(std::vector<double>(8, 1.0), FloatType::kFloat);
  Output y(1, FloatType::kFloat);
  family.launched(
      matrix_vector(x.get(), w.get(), nullptr, y.get(), FloatType::kFloat, FloatType::kFloat, {1, 1, 8}, {}),
      "infinities beyond the depth");
  y[0] = 8;
  family.compare(y, 0, "infinities beyond the depth");
}

}  // namespace hone::device::cuda::check
