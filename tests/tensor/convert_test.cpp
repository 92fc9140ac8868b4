// Conversions where C++ leaves the result open, and their neighbours.
#include "tensor/convert.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor/tensor.hpp"

namespace hone::tensor {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Convert, FloatsOutsideAnIntegerTypeBecomeItsLimits) {
  EXPECT_EQ(convert<int8_t>(300.0f), 127);
  EXPECT_EQ(convert<int8_t>(-300.0f), -128);
  EXPECT_EQ(convert<uint8_t>(-1.0f), 0);
  EXPECT_EQ(convert<uint8_t>(255.9), 255);
  EXPECT_EQ(convert<int32_t>(0x1p31f), INT32_MAX);
  EXPECT_EQ(convert<int32_t>(2147483646.5), 2147483646);
  EXPECT_EQ(convert<uint32_t>(0x1p32), UINT32_MAX);
  EXPECT_EQ(convert<int64_t>(0x1p63), INT64_MAX);
  EXPECT_EQ(convert<int64_t>(-0x1p63), INT64_MIN);
  EXPECT_EQ(convert<int64_t>(0x1.fffffep62f), 0x7fffff8000000000);
  EXPECT_EQ(convert<uint64_t>(kInfinity), UINT64_MAX);
  EXPECT_EQ(convert<int64_t>(-kInfinity), INT64_MIN);
  EXPECT_EQ(convert<int16_t>(Half(65504.0f)), INT16_MAX);
  EXPECT_EQ(convert<int16_t>(BFloat16(-1e30f)), INT16_MIN);
}

TEST(Convert, NanBecomesZeroAndTrue) {
  EXPECT_EQ(convert<int32_t>(kNan), 0);
  EXPECT_EQ(convert<uint8_t>(double{kNan}), 0);
  EXPECT_EQ(convert<int64_t>(Half(kNan)), 0);
  EXPECT_TRUE(convert<bool>(kNan));
  EXPECT_TRUE(convert<bool>(BFloat16(kNan)));
}

TEST(Convert, FractionsAreCutOff) {
  EXPECT_EQ(convert<int32_t>(-2.9f), -2);
  EXPECT_EQ(convert<uint8_t>(-0.9f), 0);
  EXPECT_EQ(convert<int8_t>(-128.9), -128);
  EXPECT_TRUE(convert<bool>(0.1));
  EXPECT_FALSE(convert<bool>(-0.0f));
}

TEST(Convert, IntegersWrap) {
  EXPECT_EQ(convert<int8_t>(int32_t{300}), 44);
  EXPECT_EQ(convert<uint64_t>(int8_t{-1}), UINT64_MAX);
}

TEST(Convert, DoublesOutsideFloatBecomeInfinite) {
  EXPECT_EQ(convert<float>(1e300), kInfinity);
  EXPECT_TRUE(std::isinf(static_cast<float>(convert<Half>(-1e300))));
}

TEST(Convert, TensorsAreConvertedSo) {
  const Tensor x = Tensor::of<float>({kNan, 1e20f, -1e20f, 3.7f}, {4});
  const Tensor y = x.cast(DType::kInt32);
  const auto out = y.values<int32_t>();
  EXPECT_EQ(std::vector<int32_t>(out.begin(), out.end()), (std::vector<int32_t>{0, INT32_MAX, INT32_MIN, 3}));
}

}  // namespace
}  // namespace hone::tensor
