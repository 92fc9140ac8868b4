// 16-bit float conversions: every bit pattern survives a round trip, rounding is to nearest even.
#include "tensor/float_types.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace hone::tensor {
namespace {

template <class T>
void expect_round_trip() {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    T value;
    value.bits = static_cast<uint16_t>(bits);
    const float wide = value;
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(T(wide)))) << bits;
      continue;
    }
    EXPECT_EQ(T(wide).bits, value.bits) << bits;
  }
}

TEST(FloatTypes, HalfRoundTripsEveryPattern) { expect_round_trip<Half>(); }
TEST(FloatTypes, BFloat16RoundTripsEveryPattern) { expect_round_trip<BFloat16>(); }

TEST(FloatTypes, HalfRoundsToNearestEven) {
  EXPECT_EQ(static_cast<float>(Half(1.0f + 0x1p-11f)), 1.0f);
  EXPECT_EQ(static_cast<float>(Half(1.0f + 3 * 0x1p-11f)), 1.0f + 0x1p-9f);
  EXPECT_EQ(static_cast<float>(Half(65519.0f)), 65504.0f);
  EXPECT_TRUE(std::isinf(static_cast<float>(Half(65520.0f))));
  EXPECT_EQ(Half(0x1p-25f).bits, 0);
  EXPECT_EQ(Half(0x1.8p-25f).bits, 1);
}

TEST(FloatTypes, BFloat16RoundsToNearestEven) {
  EXPECT_EQ(static_cast<float>(BFloat16(1.0f + 0x1p-8f)), 1.0f);
  EXPECT_EQ(static_cast<float>(BFloat16(1.0f + 3 * 0x1p-8f)), 1.0f + 0x1p-6f);
}

}  // namespace
}  // namespace hone::tensor
