// Slopes of series that grow, do not, and have outliers.
#include "base/trend.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace hone::base {
namespace {

std::vector<double> series(size_t n, double slope, double noise, uint64_t seed) {
  Random random(seed);
  std::vector<double> values;
  for (size_t i = 0; i < n; ++i)
    values.push_back(100 + slope * static_cast<double>(i) + noise * (random.uniform() - 0.5));
  return values;
}

TEST(Trend, OfAStraightLineIsItsSlope) {
  const auto trend = trend_of(series(20, 1.5, 0, 1));
  ASSERT_TRUE(trend);
  EXPECT_NEAR(trend->slope, 1.5, 1e-12);
  EXPECT_NEAR(trend->low, 1.5, 1e-12);
  EXPECT_TRUE(trend->certain());
}

TEST(Trend, IgnoresAFewOutliers) {
  std::vector<double> values = series(20, 1.5, 0, 1);
  values[0] = 1e6;
  values[19] = -1e6;
  EXPECT_NEAR(trend_of(values)->slope, 1.5, 1e-9);
}

TEST(Trend, OfNoiseIsNotCertainInMoreCasesThanItMayBe) {
  int certain = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) certain += trend_of(series(12, 0, 10, seed))->certain() ? 1 : 0;
  EXPECT_LE(certain, 20);  // 5 % of 200 are 10; more than 20 come by chance once in a thousand times
}

TEST(Trend, IsTheSameOfBlocks) {
  const auto trend = trend_of(series(5000, -0.25, 1, 3));
  EXPECT_NEAR(trend->slope, -0.25, 1e-4);
  EXPECT_TRUE(trend->certain());
}

TEST(Trend, NeedsFiveValues) {
  EXPECT_FALSE(trend_of({1, 2, 3, 4}));
  EXPECT_TRUE(trend_of({1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace hone::base
