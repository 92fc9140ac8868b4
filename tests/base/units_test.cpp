// Numbers with units.
#include "base/units.hpp"

#include <gtest/gtest.h>

namespace hone::base {
namespace {

TEST(Units, SuitTheValue) {
  EXPECT_EQ(time_text(0), "0 ns");
  EXPECT_EQ(time_text(870), "870 ns");
  EXPECT_EQ(time_text(999.97), "1.000 us");
  EXPECT_EQ(time_text(1234), "1.234 us");
  EXPECT_EQ(time_text(12'345), "12.35 us");
  EXPECT_EQ(time_text(-3.5e6), "-3.500 ms");
  EXPECT_EQ(time_text(987.65e6), "987.6 ms");
  EXPECT_EQ(time_text(5e12), "5000.0 s");
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(4096), "4.096 kB");
  EXPECT_EQ(rate_text(25.3e9), "25.30 GB/s");
  EXPECT_EQ(share_text(0.1234), "12.3 %");
  EXPECT_EQ(change_text(0.0123), "+1.2 %");
  EXPECT_EQ(change_text(-0.5), "-50.0 %");
}

TEST(Units, KeepToFourDigits) {
  EXPECT_EQ(number_text(751.7776), "751.8");
  EXPECT_EQ(number_text(0.012344), "0.01234");
  EXPECT_EQ(number_text(20), "20");
  EXPECT_EQ(number_text(28796.4), "28796");
  EXPECT_EQ(number_text(4.72166e6), "4721660");
  EXPECT_EQ(factor_text(1), "1.00");
  EXPECT_EQ(factor_text(9.999), "10.0");
  EXPECT_EQ(factor_text(146.4), "146");
}

TEST(Units, NothingIsMinusZero) {
  EXPECT_EQ(share_text(-0.0004), "0.0 %");
  EXPECT_EQ(change_text(-0.0004), "+0.0 %");
  EXPECT_EQ(number_text(-0.0), "0");
  EXPECT_EQ(time_text(-0.0), "0 ns");
}

}  // namespace
}  // namespace hone::base
