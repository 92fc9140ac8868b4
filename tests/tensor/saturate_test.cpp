// Narrowing to 16 bits keeps finite values finite; a Cast does not.
#include "tensor/saturate.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tensor/round_weights.hpp"

namespace hone::tensor {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
/// The largest of each type.
constexpr double kHalf = 65504;
constexpr double kBFloat16 = 0x1.fep127;

TEST(Saturate, FiniteValuesStayFiniteAndInfinitiesInfinite) {
  const Tensor values = Tensor::of<float>({kLowest, -kInfinity, 1e5f, 65519, 65520, kInfinity}, {6});
  EXPECT_EQ(saturated(values, DType::kFloat16).to_double(),
            (std::vector<double>{-kHalf, -kInfinity, kHalf, kHalf, kHalf, kInfinity}));
  EXPECT_EQ(saturated(values, DType::kBFloat16).to_double(),
            (std::vector<double>{-kBFloat16, -kInfinity, 99840, 65536, 65536, kInfinity}));
  EXPECT_EQ(values.cast(DType::kBFloat16).to_double()[0], -kInfinity) << "as ONNX's Cast has it";
  EXPECT_EQ(count_saturated(values, DType::kFloat16), 3);
  EXPECT_EQ(count_saturated(values, DType::kBFloat16), 1);
  EXPECT_EQ(count_saturated(Tensor::of<int64_t>({1}, {1}), DType::kBFloat16), 0);
}

TEST(Saturate, NotANumberStaysOne) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(static_cast<float>(saturated<BFloat16>(nan))));
  EXPECT_TRUE(std::isnan(static_cast<float>(saturated<Half>(nan))));
}

TEST(Saturate, RoundedWeightsTooAreFinite) {
  const Tensor weights = Tensor::of<float>({kLowest, 1, 2, 3}, {1, 4});
  const auto rounded = round_weights(weights, DType::kFloat16, FilterAxis::kFirst).to_double();
  EXPECT_EQ(rounded, (std::vector<double>{-kHalf, 1, 2, 3}));
}

}  // namespace
}  // namespace hone::tensor
