// Percentiles, spread and intervals against values computed by hand or with other tools.
#include "base/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "base/random.hpp"

namespace hone::base {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Percentile, IsNearestRank) {
  const std::vector<double> ten = one_to(10);
  EXPECT_EQ(percentile_of_sorted(ten, 0.5), 5);
  EXPECT_EQ(percentile_of_sorted(ten, 0.9), 9);
  EXPECT_EQ(percentile_of_sorted(ten, 0.91), 10);
  EXPECT_EQ(percentile_of_sorted(ten, 1.0), 10);
  EXPECT_EQ(percentile_of_sorted(ten, 0.001), 1);
  const std::vector<double> hundred = one_to(100);
  EXPECT_EQ(percentile_of_sorted(hundred, 0.99), 99);
  EXPECT_EQ(percentile_of_sorted(hundred, 0.95), 95);
  EXPECT_EQ(percentile_of_sorted(one_to(1), 0.99), 1);
}

TEST(Percentile, RefusesNothingToRank) {
  EXPECT_THROW(percentile_of_sorted({}, 0.5), Error);
  EXPECT_THROW(percentile_of_sorted(std::vector<double>{1.0}, 0), Error);
}

TEST(Median, IsTheLowerMiddle) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 3, 1, 2}), 2);
  EXPECT_THROW(median({}), Error);
}

TEST(Summarize, MatchesHandComputedFigures) {
  const Summary s = summarize({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(s.n, 8);
  EXPECT_DOUBLE_EQ(s.mean, 5);
  EXPECT_NEAR(s.sd, 2.1380899, 1e-6);  // sqrt(32 / 7)
  EXPECT_EQ(s.min, 2);
  EXPECT_EQ(s.max, 9);
  EXPECT_EQ(s.p50, 4);
  EXPECT_EQ(s.p99, 9);
  EXPECT_EQ(summarize({}).n, 0);
  EXPECT_EQ(summarize({7}).sd, 0);
}

// Ranks of the binomial interval: R's qbinom(0.025, n, 0.5), and n + 1 minus that.
TEST(Summarize, MedianIntervalHasTheBinomialRanks) {
  const Interval ten = summarize(one_to(10)).p50_interval;
  EXPECT_EQ(ten.low, 2);
  EXPECT_EQ(ten.high, 9);
  const Interval hundred = summarize(one_to(100)).p50_interval;
  EXPECT_EQ(hundred.low, 40);
  EXPECT_EQ(hundred.high, 61);
}

/// All samples lie on one side of the median with probability 2 / 2^n: 6 % for five, 3 % for six.
TEST(Summarize, MedianIntervalNeedsSixSamples) {
  for (const int n : {1, 3, 5}) EXPECT_FALSE(summarize(one_to(n)).p50_interval.bounded()) << n;
  const Interval six = summarize(one_to(6)).p50_interval;
  EXPECT_EQ(six.low, 1);
  EXPECT_EQ(six.high, 6);
}

TEST(Summarize, MedianIntervalIsContinuousWhereTheFormulaChanges) {
  const Interval exact = summarize(one_to(1000)).p50_interval;
  const Interval normal = summarize(one_to(1001)).p50_interval;
  EXPECT_NEAR(exact.low, normal.low, 2);
  EXPECT_NEAR(exact.high, normal.high, 2);
}

TEST(SamplesForPercentile, IsWilksFormula) {
  EXPECT_EQ(samples_for_percentile(0.5), 5);
  EXPECT_EQ(samples_for_percentile(0.9), 29);
  EXPECT_EQ(samples_for_percentile(0.95), 59);
  EXPECT_EQ(samples_for_percentile(0.99), 299);
}

TEST(StudentT, MatchesTables) {
  EXPECT_NEAR(student_t_975(1), 12.706, 1e-3);
  EXPECT_NEAR(student_t_975(9), 2.262, 1e-3);
  EXPECT_NEAR(student_t_975(11), 2.201, 2e-3);
  EXPECT_NEAR(student_t_975(30), 2.042, 1e-3);
  EXPECT_NEAR(student_t_975(100000), 1.960, 1e-3);
}

// The reference implementation's first outputs for seed 1234567.
TEST(RandomNumbers, AreThoseOfSplitMix64) {
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  EXPECT_EQ(random.next(), 9817491932198370423u);
}

TEST(RandomNumbers, NormalHasItsMoments) {
  Random random(1);
  std::vector<double> values(20000);
  for (double& value : values) value = random.normal();
  const Summary s = summarize(values);
  EXPECT_NEAR(s.mean, 0, 4 / std::sqrt(20000.0));  // four standard errors
  EXPECT_NEAR(s.sd, 1, 4 / std::sqrt(2 * 20000.0));
}

/// Wilson's own example forms: symmetric at a half, and never beyond 0 and 1.
TEST(Statistics, SharesHaveWilsonIntervals) {
  const Interval half = share_interval(5, 10);
  EXPECT_NEAR(half.low, 0.2366, 1e-4);
  EXPECT_NEAR(half.high, 0.7634, 1e-4);
  EXPECT_NEAR(share_interval(0, 20).low, 0, 1e-12);
  EXPECT_NEAR(share_interval(0, 20).high, 0.1611, 1e-4);
  EXPECT_NEAR(share_interval(20, 20).high, 1, 1e-12);
}

}  // namespace
}  // namespace hone::base
