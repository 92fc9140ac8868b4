// Checks of matrix_vector.hpp.
#include "device/cuda/regions/row_products/plugin/kernels/matrix_vector.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

using graph::PostOp;

/// Operands of the products of one launch, and what they are to give.
class ProductCase {
 public:
  ProductCase(FloatType type, FloatType result, const MatrixVector& size, bool with_bias)
      : type_(type), result_(result), size_(size), x_(size.rows * size.depth, type) {
    args_.x = x_.get();
    for (int64_t r = 0; r < size.rows; ++r) {
      for (int64_t k = 0; k < size.depth; ++k) rows_.push_back(x_[r * size.depth + k]);
    }
    if (size.normalizes) normalize();
    for (int m = 0; m < MatrixVector::kMostMatrices && size.columns[m] > 0; ++m) {
      expected_.push_back(product(args_.matrices[m], size.columns[m], with_bias));
      outputs_.emplace_back(size.rows * size.columns[m], result);
      args_.matrices[m].y = outputs_.back().get();
    }
    if (size.paired_step < 0) return;
    pair_ = product(args_.pair, size.columns[0], with_bias);
    args_.pair_steps[args_.pair_step_count++] = {PostOp::kClip, -20, 30};
    for (double& value : pair_) value = std::clamp<double>(value, -20, 30);
  }

  /// One more step behind the first product.
  void add(PostOp op, OperandShape shape = OperandShape::kFull, float alpha = 0, float beta = 0) {
    EpilogueStep& step = args_.steps[args_.step_count];
    const bool paired = args_.step_count++ == size_.paired_step;
    step = {op, alpha, beta, shape, nullptr};
    const int64_t columns = size_.columns[0];
    const int64_t images = (size_.rows + size_.rows_of_image - 1) / size_.rows_of_image;
    const int64_t rows = shape == OperandShape::kFull         ? size_.rows
                         : shape == OperandShape::kPerChannel ? 1
                                                              : images;
    const Values* operand = nullptr;
    if (is_binary(op) && !paired) {
      operand = &values_.emplace_back(rows * columns, type_);
      step.operand = operand->get();
    }
    for (int64_t r = 0; r < size_.rows; ++r) {
      const int64_t row = shape == OperandShape::kFull         ? r
                          : shape == OperandShape::kPerChannel ? 0
                                                               : r / size_.rows_of_image;
      for (int64_t c = 0; c < columns; ++c) {
        double& value = expected_[0][static_cast<size_t>(r * columns + c)];
        const double other = paired               ? pair_[static_cast<size_t>(r * columns + c)]
                             : operand != nullptr ? (*operand)[row * columns + c]
                                                  : 0;
        if (op == PostOp::kAdd) value += other;
        if (op == PostOp::kMul) value *= other;
        if (op == PostOp::kSub) value -= other;
        if (op == PostOp::kSwish) value /= 1 + std::exp(-alpha * value);
        if (op == PostOp::kClip) value = std::clamp<double>(value, alpha, beta);
        if (op == PostOp::kGeluErf) value *= 0.5 * (1 + std::erf(value * std::sqrt(0.5)));
      }
    }
  }

  void check(Family& family) {
    const std::string what = std::string(type_name(type_)) + " " + std::to_string(size_.rows) + " x " +
                             std::to_string(size_.depth) + " x " + std::to_string(size_.columns[0]) +
                             (size_.normalizes ? ", normalized" : "") +
                             (size_.paired_step < 0 ? "" : ", of pairs") +
                             ", steps: " + std::to_string(args_.step_count);
    family.launched(matrix_vector(args_, type_, result_, size_, LaunchOptions{.device = &gpu()}), what);
    for (size_t m = 0; m < outputs_.size(); ++m) {
      outputs_[m].expected = expected_[m];
      family.compare(outputs_[m], slack(), what);
    }
  }

 private:
  /// n products of magnitude up to 1, or 2 where rows are normalized and may round the other way; a product
  /// of two of them, whose magnitudes are below the root of n, has the error of both times the other.
  double slack() const {
    const auto n = static_cast<double>(size_.depth);
    const double rounding = size_.normalizes ? 4 * unit_roundoff(type_) : 0;
    const double one = kFloatRoundoff * (16 + n * std::sqrt(n)) + rounding * std::sqrt(n);
    return size_.paired_step < 0 ? one : one * 8 * std::sqrt(n);
  }

  void normalize() {
    const Values& scale = values_.emplace_back(size_.depth, FloatType::kFloat, 0.5, 1.5);
    const Values& shift = values_.emplace_back(size_.depth, FloatType::kFloat);
    args_.scale = static_cast<const float*>(scale.get());
    if (size_.centers) args_.shift = static_cast<const float*>(shift.get());
    for (int64_t r = 0; r < size_.rows; ++r) {
      double* const row = rows_.data() + r * size_.depth;
      double mean = 0, squares = 0;
      for (int64_t k = 0; k < size_.depth; ++k) mean += row[k] / static_cast<double>(size_.depth);
      if (!size_.centers) mean = 0;
      for (int64_t k = 0; k < size_.depth; ++k) squares += (row[k] - mean) * (row[k] - mean);
      const double factor = 1 / std::sqrt(squares / static_cast<double>(size_.depth) + size_.epsilon);
      for (int64_t k = 0; k < size_.depth; ++k)
        row[k] = rounded((row[k] - mean) * factor * scale[k] + (size_.centers ? shift[k] : 0), type_);
    }
  }

  std::vector<double> product(MatrixVectorArgs::Matrix& matrix, int64_t columns, bool with_bias) {
    const Values& w = values_.emplace_back(columns * size_.depth, type_);
    const Values& bias = values_.emplace_back(columns, FloatType::kFloat);
    matrix.w = w.get();
    matrix.bias = with_bias ? static_cast<const float*>(bias.get()) : nullptr;
    std::vector<double> result;
    for (int64_t r = 0; r < size_.rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        double sum = 0;
        for (int64_t k = 0; k < size_.depth; ++k)
          sum += rows_[static_cast<size_t>(r * size_.depth + k)] * w[c * size_.depth + k];
        result.push_back(size_.alpha * sum + (with_bias ? bias[c] : 0));
      }
    }
    return result;
  }

  FloatType type_;
  FloatType result_;
  MatrixVector size_;
  MatrixVectorArgs args_;
  Values x_;
  std::vector<double> rows_;  ///< as they are multiplied
  std::deque<Values> values_;
  std::vector<std::vector<double>> expected_;
  std::vector<double> pair_;
  std::deque<Output> outputs_;
};

MatrixVector size_of(int64_t rows, int64_t columns, int64_t depth) {
  MatrixVector size;
  size.rows = rows;
  size.columns = {columns};
  size.depth = depth;
  return size;
}

void check_plain(Family& family, FloatType type, FloatType result, int64_t rows) {
  ProductCase(type, result, size_of(rows, 1000, 2048), true).check(family);
  ProductCase(type, result, size_of(rows, 13, 8), false).check(family);
  MatrixVector scaled = size_of(rows, 77, 2312);
  scaled.alpha = 0.5f;
  ProductCase(type, result, scaled, true).check(family);
  ProductCase(type, result, size_of(rows, 40, 5000), true).check(family);
  ProductCase(type, result, size_of(rows, 3000, 768), true).check(family);
  ProductCase(type, result, size_of(rows, 900, 3072), true).check(family);
  ProductCase(type, result, size_of(rows, 20, 16392), true).check(family);
  MatrixVector several = size_of(rows, 30, 896);
  several.columns = {30, 9, 17};
  ProductCase(type, result, several, true).check(family);
}

void check_steps(Family& family, FloatType type, int64_t rows) {
  MatrixVector size = size_of(rows, 77, 264);
  size.rows_of_image = 2;
  ProductCase added(type, type, size, true);
  added.add(PostOp::kAdd);
  added.add(PostOp::kSub, OperandShape::kPerChannel);
  added.add(PostOp::kMul, OperandShape::kPerImageChannel);
  added.add(PostOp::kClip, OperandShape::kFull, -3, 6);
  added.check(family);
  ProductCase gelu(type, type, size, false);
  gelu.add(PostOp::kGeluErf);
  gelu.check(family);
}

void check_normalized(Family& family, FloatType type, int64_t rows, bool centers) {
  MatrixVector size = size_of(rows, 40, 896);
  size.normalizes = true;
  size.centers = centers;
  size.epsilon = 1e-5f;
  size.columns = {40, 16, 24, 8};
  ProductCase(type, type, size, true).check(family);
  size.columns = {72};
  size.paired_step = 1;
  ProductCase gated(type, type, size, true);
  gated.add(PostOp::kSwish, OperandShape::kFull, 1);
  gated.add(PostOp::kMul);
  gated.check(family);
  size.columns = {5000};
  ProductCase many(type, type, size, true);
  many.add(PostOp::kSwish, OperandShape::kFull, 1);
  many.add(PostOp::kMul);
  many.check(family);
  // Longer than a block's threads have runs.
  size = size_of(1, 24, 4104);
  size.normalizes = true;
  size.centers = centers;
  ProductCase added(type, type, size, false);
  added.add(PostOp::kAdd);
  added.check(family);
}

}  // namespace

void check_matrix_vector() {
  Family family("matrix vector");
  for (const FloatType type : kFloatTypes) {
    for (const int64_t rows : {1, 2, 3, 5, 8}) {
      check_plain(family, type, type, rows);
      if (type != FloatType::kFloat) check_plain(family, type, FloatType::kFloat, rows);
      check_steps(family, type, rows);
      for (const bool centers : {false, true}) check_normalized(family, type, rows, centers);
    }
  }
  // Nothing beyond the depth takes part: zeros that stand for it would make NaN of infinities there.
  std::vector<double> values(16, std::numeric_limits<double>::infinity());
  std::fill_n(values.begin(), 8, 1.0);
  const Values x(values, FloatType::kFloat);
  const Values w(std::vector<double>(8, 1.0), FloatType::kFloat);
  Output y(1, FloatType::kFloat);
  MatrixVectorArgs args;
  args.x = x.get();
  args.matrices[0] = {w.get(), nullptr, y.get()};
  family.launched(matrix_vector(args, FloatType::kFloat, FloatType::kFloat, size_of(1, 1, 8),
                                LaunchOptions{.device = &gpu()}),
                  "infinities beyond the depth");
  y[0] = 8;
  family.compare(y, 0, "infinities beyond the depth");
}

}  // namespace hone::device::cuda::check
