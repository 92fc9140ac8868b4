// Marks of axes: steps of 1, 2 and 5, never more than asked for.
#include "report/plot/ticks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace hone::report {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

TEST(Ticks, LinearOnesAreTheFinestThatFit) {
  EXPECT_THAT(linear_ticks(0, 10.4, 6), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(linear_ticks(0, 10.4, 5), ElementsAre(0, 5, 10));
  EXPECT_THAT(linear_ticks(-3, 7, 6), ElementsAre(-2, 0, 2, 4, 6));
  EXPECT_THAT(linear_ticks(0, 0.052, 6), Pointwise(DoubleNear(1e-12), {0.0, 0.01, 0.02, 0.03, 0.04, 0.05}));
}

TEST(Ticks, LogarithmicOnesThinOutToPowers) {
  EXPECT_THAT(log_ticks(0.9, 60, 10), ElementsAre(1, 2, 5, 10, 20, 50));
  EXPECT_THAT(log_ticks(0.9, 60, 5), ElementsAre(1, 10));
  EXPECT_THAT(log_ticks(1, 1e9, 5), Pointwise(DoubleNear(1), {1.0, 1e2, 1e4, 1e6, 1e8}));
  // Between 5 and 10 there is one at most.
  EXPECT_THAT(log_ticks(5.5, 9, 5), ElementsAre(6, 7, 8, 9));
}

TEST(Ticks, AreInRangeAndNotTooManyWhateverTheRange) {
  for (const double low : {1e-17, 3e-9, 0.0123, 1.0, 7.77, 4.2e8, 9.9e17}) {
    for (const double factor : {1.001, 1.5, 2.5, 9.0, 30.0, 1e4, 1e12}) {
      for (const size_t most : {3U, 7U, 20U}) {
        const double high = low * factor;
        const double rounding = 1e-6 * low + 1e-8 * (high - low);
        for (const auto& ticks : {linear_ticks(low, high, most), log_ticks(low, high, most)}) {
          EXPECT_LE(ticks.size(), most) << low << " " << high;
          for (const double tick : ticks) {
            EXPECT_GE(tick, low - rounding);
            EXPECT_LE(tick, high + rounding);
          }
        }
        EXPECT_GE(linear_ticks(0, high, most).size(), 2U) << high << " " << most;
      }
    }
  }
}

TEST(Ticks, TextsAreShortAndGrouped) {
  EXPECT_EQ(tick_text(0), "0");
  EXPECT_EQ(tick_text(3 * 0.1), "0.3");
  EXPECT_EQ(tick_text(5000), "5000");
  EXPECT_EQ(tick_text(10'000), "10 000");
  EXPECT_EQ(tick_text(-2'500'000), "-2 500 000");
  EXPECT_EQ(tick_text(1e12), "1e+12");
  EXPECT_EQ(value_text(0.236725), "0.2367");
  EXPECT_EQ(value_text(9999.4), "9999");
  EXPECT_EQ(value_text(11'640.3), "11 640");
}

}  // namespace
}  // namespace hone::report
