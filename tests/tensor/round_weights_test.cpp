// Weights in 16 bits: each beside where it was, the errors of a filter together almost nothing.
#include "tensor/round_weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tensor/float_types.hpp"
#include "tensor/saturate.hpp"

namespace hone::tensor {
namespace {

Tensor normal_weights(const Shape& shape, float scale) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, scale);
  Tensor weights(DType::kFloat32, shape);
  for (float& value : weights.mutable_values<float>()) value = normal(random);
  return weights;
}

struct Errors {
  double sum = 0;      ///< largest sum of a filter's errors
  double squares = 0;  ///< of all errors
};

Errors errors_of(const Tensor& weights, const Tensor& rounded, FilterAxis axis) {
  const auto from = weights.to_double();
  const auto to = rounded.to_double();
  const size_t filters =
      static_cast<size_t>(axis == FilterAxis::kFirst ? weights.shape().front() : weights.shape().back());
  const size_t depth = from.size() / filters;
  Errors errors;
  for (size_t k = 0; k < filters; ++k) {
    double sum = 0;
    for (size_t d = 0; d < depth; ++d) {
      const size_t at = axis == FilterAxis::kFirst ? k * depth + d : d * filters + k;
      sum += to[at] - from[at];
      errors.squares += (to[at] - from[at]) * (to[at] - from[at]);
    }
    errors.sum = std::max(errors.sum, std::abs(sum));
  }
  return errors;
}

TEST(RoundWeights, ErrorsOfAFilterCancel) {
  for (const DType to : {DType::kFloat16, DType::kBFloat16}) {
    const Tensor weights = normal_weights({32, 576}, 0.05f);
    const Errors nearest = errors_of(weights, weights.cast(to), FilterAxis::kFirst);
    const Errors balanced =
        errors_of(weights, round_weights(weights, to, FilterAxis::kFirst), FilterAxis::kFirst);
    // From some 7 spacings (0.29 sqrt(576)) to one half.
    EXPECT_LT(balanced.sum, nearest.sum / 8);
    EXPECT_LT(balanced.squares, nearest.squares * 1.01);
  }
}

TEST(RoundWeights, ErrorsOfAWindowCancel) {
  for (const DType to : {DType::kFloat16, DType::kBFloat16}) {
    const Tensor weights = normal_weights({32, 64, 3, 3}, 0.05f);
    const auto windows = [&](const Tensor& rounded) {
      const auto from = weights.to_double();
      const auto at = rounded.to_double();
      double squares = 0;
      for (size_t first = 0; first < from.size(); first += 9) {
        double sum = 0;
        for (size_t i = first; i < first + 9; ++i) sum += at[i] - from[i];
        squares += sum * sum;
      }
      return squares;
    };
    const Tensor nearest = weights.cast(to);
    const Tensor balanced = round_weights(weights, to, FilterAxis::kFirst);
    const Errors before = errors_of(weights, nearest, FilterAxis::kFirst);
    const Errors after = errors_of(weights, balanced, FilterAxis::kFirst);
    // The sum of nine errors has 0.87 spacings: in half of the windows one near the middle moves, 0.18
    // squares dearer.
    EXPECT_LT(windows(balanced), windows(nearest) / 2);
    EXPECT_LT(after.squares, before.squares * 1.15);
    EXPECT_LT(after.sum, before.sum / 8);
  }
}

TEST(RoundWeights, FiltersAreColumnsWhereTheyComeLast) {
  const Tensor weights = normal_weights({512, 24}, 1);
  const Tensor rounded = round_weights(weights, DType::kBFloat16, FilterAxis::kLast);
  const Errors nearest = errors_of(weights, weights.cast(DType::kBFloat16), FilterAxis::kLast);
  EXPECT_LT(errors_of(weights, rounded, FilterAxis::kLast).sum, nearest.sum / 8);
}

TEST(RoundWeights, EveryWeightStaysBesideWhereItWas) {
  const Tensor weights = normal_weights({4, 1000}, 3);
  const Tensor rounded = round_weights(weights, DType::kFloat16, FilterAxis::kFirst);
  const auto from = weights.values<float>();
  const auto to = rounded.values<Half>();
  for (size_t i = 0; i < from.size(); ++i) {
    // The spacing of numbers of 11 bits; a weight near the middle may go to the far neighbour.
    const double spacing = std::ldexp(1.0, std::max(std::ilogb(from[i]), -14) - 10);
    EXPECT_LE(std::abs(static_cast<double>(static_cast<float>(to[i])) - from[i]), 0.65 * spacing + 1e-12)
        << i;
  }
}

TEST(RoundWeights, ThreadsChangeNothing) {
  // Enough for several threads, beside the same filters one by one.
  const Tensor weights = normal_weights({300, 4000}, 1);
  const Tensor rounded = round_weights(weights, DType::kFloat16, FilterAxis::kFirst);
  for (const int64_t filter : {0, 149, 150, 299}) {
    Tensor one(DType::kFloat32, {1, 4000});
    const auto from = weights.values<float>().subspan(static_cast<size_t>(filter) * 4000, 4000);
    std::copy(from.begin(), from.end(), one.mutable_values<float>().begin());
    const auto alone = round_weights(one, DType::kFloat16, FilterAxis::kFirst).to_double();
    const auto all = rounded.to_double();
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), all.begin() + filter * 4000)) << filter;
  }
}

TEST(RoundWeights, ExactWeightsStay) {
  const Tensor weights = Tensor::of<float>({1, 0.5f, -0.25f, 0, 3, -0.0f}, {2, 3});
  const Tensor rounded = round_weights(weights, DType::kFloat16, FilterAxis::kFirst);
  EXPECT_EQ(rounded.cast(DType::kFloat32).to_double(), weights.to_double());
}

TEST(RoundWeights, AFilterThatOverflowsIsRoundedToTheNearest) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor weights = Tensor::of<float>({1.0003f, 1e6f, 1.0004f, 1.0003f, -infinity, 2}, {2, 3});
  const Tensor rounded = round_weights(weights, DType::kFloat16, FilterAxis::kFirst);
  EXPECT_EQ(rounded.to_double(), saturated(weights, DType::kFloat16).to_double());
}

TEST(RoundWeights, NothingIsNothing) {
  const Tensor weights(DType::kFloat32, {0, 3});
  EXPECT_EQ(round_weights(weights, DType::kFloat16, FilterAxis::kFirst).size(), 0);
}

}  // namespace
}  // namespace hone::tensor
