// Products of few rows on the emulator: matrices side by side, pairs of them, normalized rows, and what
// follows.
#include "device/cuda/emulator/emulated_kernels.hpp"
#include "device/cuda/regions/row_products/plugin/kernels/matrix_vector.hpp"

namespace hone::device::cuda::emulated {
namespace {

using graph::PostOp;

struct Case {
  int64_t rows = 1;
  int64_t depth = 8;
  std::vector<int64_t> columns = {8};
  bool normalizes = false;
  bool centers = false;
  /// Whether the result of the one matrix is multiplied with that of another, behind a rectifier.
  bool paired = false;
  /// Whether something of the result's shape is added.
  bool adds = false;
  /// Multiprocessors of the device: few of them make a block take one column after another.
  int multiprocessors = 132;
};

class ProductCase {
 public:
  ProductCase(Case c, Element element)
      : c_(std::move(c)),
        element_(element),
        x_(element, c_.rows * c_.depth, 2, 1),
        scale_(Element::kFloat, std::vector<float>(static_cast<size_t>(c_.depth), 0.5f)),
        shift_(Element::kFloat, c_.depth, 1, 3),
        bias_(Element::kFloat, all_columns(), 3, 4),
        w_(element, all_columns() * c_.depth, 2, 5, 2),
        pair_(element, all_columns() * c_.depth, 1, 6, 8),
        addend_(element, c_.rows * all_columns(), 3, 7) {}

  void expect() {
    const FloatType type = element_ == Element::kHalf    ? FloatType::kHalf
                           : element_ == Element::kFloat ? FloatType::kFloat
                                                         : FloatType::kBfloat16;
    DeviceProperties device = emulator::properties();
    device.multiprocessors = c_.multiprocessors;
    // Normalized values are no integers: one rounding of each element.
    expect_output(kFewSchedules, element_, {1, 1, c_.rows, all_columns()}, expected(),
                  c_.normalizes || c_.paired ? 24 : 0, [&](Output& y) {
                    emulator::busy_ahead(nullptr, 0);
                    for (const Tensor* tensor : {&x_, &addend_}) tensor->be_busy();
                    y.be_busy();
                    return matrix_vector(args(y), type, type, size(),
                                         {.device = &device, .pdl = true, .next_waits = true});
                  });
  }

 private:
  int64_t all_columns() const {
    int64_t all = 0;
    for (const int64_t count : c_.columns) all += count;
    return all;
  }

  MatrixVector size() const {
    MatrixVector size;
    size.rows = c_.rows;
    size.depth = c_.depth;
    std::copy(c_.columns.begin(), c_.columns.end(), size.columns.begin());
    size.normalizes = c_.normalizes;
    size.centers = c_.centers;
    size.epsilon = 0.25f;
    if (c_.paired) size.paired_step = 1;
    return size;
  }

  /// Matrices lie one behind the other, and so do their results.
  MatrixVectorArgs args(Output& y) const {
    MatrixVectorArgs args;
    args.x = x_.get();
    args.scale = scale_.floats();
    args.shift = c_.centers ? shift_.floats() : nullptr;
    int64_t first = 0;
    for (size_t m = 0; m < c_.columns.size(); ++m) {
      args.matrices[m] = {bytes(w_.get(), first * c_.depth), bias_.floats() + first,
                          const_cast<std::byte*>(bytes(y.get(), first * c_.rows))};
      first += c_.columns[m];
    }
    if (c_.paired) {
      args.pair = {pair_.get(), bias_.floats(), nullptr};
      args.pair_steps[args.pair_step_count++] = {PostOp::kClip, -2, 9};
      args.steps[args.step_count++] = {PostOp::kRelu};
      args.steps[args.step_count++] = {PostOp::kMul};
    }
    if (c_.adds) args.steps[args.step_count++] = {PostOp::kAdd, 0, 0, OperandShape::kFull, addend_.get()};
    return args;
  }

  const std::byte* bytes(const void* from, int64_t elements) const {
    return static_cast<const std::byte*>(from) + elements * element_bytes(element_);
  }

  /// Row `r` in the form in which it is multiplied.
  std::vector<double> row(int64_t r) const {
    std::vector<double> values(x_.values.begin() + r * c_.depth, x_.values.begin() + (r + 1) * c_.depth);
    if (!c_.normalizes) return values;
    const auto depth = static_cast<double>(c_.depth);
    double mean = 0;
    for (const double value : values) mean += value / depth;
    if (!c_.centers) mean = 0;
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    for (size_t k = 0; k < values.size(); ++k) {
      values[k] = (values[k] - mean) / std::sqrt(squares / depth + 0.25) * 0.5;
      if (c_.centers) values[k] += shift_.values[k];
      values[k] = rounded(element_, values[k]);
    }
    return values;
  }

  std::vector<double> expected() const {
    std::vector<double> result;
    int64_t first = 0;
    for (const int64_t columns : c_.columns) {
      for (int64_t r = 0; r < c_.rows; ++r) {
        const std::vector<double> values = row(r);
        for (int64_t c = first; c < first + columns; ++c) {
          double sum = bias_.values[c];
          double pair = sum;
          for (int64_t k = 0; k < c_.depth; ++k) {
            sum += values[k] * w_.values[c * c_.depth + k];
            pair += values[k] * pair_.values[c * c_.depth + k];
          }
          if (c_.paired) sum = std::max(sum, 0.0) * std::clamp(pair, -2.0, 9.0);
          if (c_.adds) sum += addend_.values[r * columns + c];
          result.push_back(sum);
        }
      }
      first += columns;
    }
    return result;
  }

  Case c_;
  Element element_;
  Tensor x_;
  Tensor scale_;
  Tensor shift_;
  Tensor bias_;
  Tensor w_;
  Tensor pair_;
  Tensor addend_;
};

TEST(EmulatedMatrixVector, TakesFewRows) {
  for (const int64_t rows : {1, 2, 3, 8})
    ProductCase({.rows = rows, .depth = 88, .columns = {13}}, Element::kHalf).expect();
  ProductCase({.rows = 2, .depth = 2600, .columns = {3}, .adds = true}, Element::kBFloat16).expect();
  ProductCase({.rows = 1, .depth = 1096, .columns = {9}}, Element::kFloat).expect();
}

TEST(EmulatedMatrixVector, TakesMatricesSideBySide) {
  ProductCase({.rows = 1, .depth = 96, .columns = {16, 8, 8}}, Element::kHalf).expect();
  ProductCase({.rows = 5, .depth = 40, .columns = {3, 9, 1, 12}}, Element::kBFloat16).expect();
}

TEST(EmulatedMatrixVector, TakesOneColumnAfterAnother) {
  ProductCase({.rows = 2, .depth = 40, .columns = {130}, .adds = true, .multiprocessors = 1}, Element::kHalf)
      .expect();
  ProductCase({.depth = 2600, .columns = {70, 3, 80}, .multiprocessors = 1}, Element::kBFloat16).expect();
  ProductCase({.depth = 1032, .columns = {141}, .normalizes = true, .paired = true, .multiprocessors = 1},
              Element::kHalf)
      .expect();
}

TEST(EmulatedMatrixVector, NormalizesRows) {
  for (const bool centers : {false, true}) {
    ProductCase({.depth = 2056, .columns = {5}, .normalizes = true, .centers = centers}, Element::kHalf)
        .expect();
    ProductCase({.rows = 3, .depth = 64, .columns = {16, 8}, .normalizes = true, .centers = centers},
                Element::kBFloat16)
        .expect();
  }
}

TEST(EmulatedMatrixVector, TakesOneRowOfAnyLength) {
  // Whole in every warp, shared by several warps, and too long for registers.
  for (const int64_t depth : {1024, 1032, 3072, 8200, 16392})
    ProductCase({.depth = depth, .columns = {11}, .adds = true}, Element::kHalf).expect();
  ProductCase({.depth = 4864, .columns = {5, 7}}, Element::kFloat).expect();
  ProductCase({.depth = 4864, .columns = {12}, .paired = true}, Element::kBFloat16).expect();
  for (const int64_t depth : {768, 2048, 2056})
    ProductCase({.depth = depth, .columns = {13, 3}, .normalizes = true, .centers = true}, Element::kHalf)
        .expect();
  ProductCase({.depth = 3072, .columns = {75}, .adds = true, .multiprocessors = 1}, Element::kHalf).expect();
}

TEST(EmulatedMatrixVector, MultipliesPairsOfResults) {
  ProductCase({.rows = 2, .depth = 72, .columns = {21}, .paired = true, .adds = true}, Element::kFloat)
      .expect();
  ProductCase({.depth = 1032, .columns = {10}, .normalizes = true, .paired = true}, Element::kHalf).expect();
}

}  // namespace
}  // namespace hone::device::cuda::emulated
