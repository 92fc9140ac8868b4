// Counts that do not depend on the order of the data, and what is refused.
#include "quantize/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "hone/error.hpp"

namespace hone::quantize {
namespace {

std::vector<float> normal(size_t count, float deviation, uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> distribution(0, deviation);
  std::vector<float> values(count);
  std::ranges::generate(values, [&] { return distribution(generator); });
  return values;
}

TEST(Histogram, CountsTheSameInAnyOrder) {
  const std::vector<std::vector<float>> parts = {
      normal(1000, 0.01f, 1), normal(1000, 3, 2), normal(999, 100, 3), {0, 0, 0}};
  Histogram forward;
  Histogram backward;
  for (const auto& part : parts) EXPECT_TRUE(forward.add(part));
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) EXPECT_TRUE(backward.add(*part));
  int first = 0;
  int other = 0;
  EXPECT_EQ(forward.counts(&first), backward.counts(&other));
  EXPECT_EQ(first, other);
  EXPECT_EQ(forward.exponent(), backward.exponent());
  EXPECT_EQ(forward.count(), 3002);
  EXPECT_EQ(forward.min(), backward.min());
}

TEST(Histogram, BinsHoldTheirValues) {
  const std::vector<float> values = normal(5000, 2, 7);
  Histogram histogram;
  histogram.add(values);
  const Histogram::Signed bins = histogram.values();
  for (size_t i = 0; i < bins.bins.size(); ++i) {
    const double low = (bins.first + static_cast<double>(i)) * histogram.width();
    const auto inside = std::ranges::count_if(values, [&](float value) {
      return static_cast<double>(value) >= low && static_cast<double>(value) < low + histogram.width();
    });
    ASSERT_EQ(static_cast<double>(inside), bins.bins[i]) << i;
  }
  // At least half of the bins of one sign are below the largest magnitude.
  const std::vector<double> magnitudes = histogram.magnitudes();
  EXPECT_GT(magnitudes.size(), size_t{Histogram::kBins / 2});
  EXPECT_EQ(std::accumulate(magnitudes.begin(), magnitudes.end(), 0.0), 5000);
  EXPECT_GT(magnitudes.back(), 0);
}

TEST(Histogram, TakesAnyFiniteRange) {
  for (const float scale : {1e-38f, 1e-20f, 1.0f, 1e20f, 1.7e38f}) {
    Histogram histogram;
    const std::vector<float> values = {-scale, scale / 3, scale * 2};
    ASSERT_TRUE(histogram.add(values)) << scale;
    EXPECT_EQ(histogram.count(), 3);
    EXPECT_FLOAT_EQ(static_cast<float>(histogram.amax()), scale * 2);
    const std::vector<double> magnitudes = histogram.magnitudes();
    EXPECT_EQ(std::accumulate(magnitudes.begin(), magnitudes.end(), 0.0), 3) << scale;
  }
}

TEST(Histogram, RefusesWhatIsNotFiniteAndCountsNothingOfIt) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    for (const size_t place : {size_t{0}, size_t{5}, size_t{40}}) {
      std::vector<float> values(41, 1);
      values[place] = bad;
      Histogram histogram;
      EXPECT_FALSE(histogram.add(values));
      EXPECT_EQ(histogram.count(), 0);
      EXPECT_EQ(histogram.amax(), 0);
    }
  }
}

TEST(Histogram, IsRestoredFromItsCounts) {
  Histogram histogram;
  histogram.add(normal(1000, 1, 4));
  int first = 0;
  const auto counts = histogram.counts(&first);
  Histogram again = Histogram::restore(histogram.exponent(), first, counts, histogram.min(), histogram.max());
  EXPECT_EQ(again.magnitudes(), histogram.magnitudes());
  // It goes on where the other one was.
  const std::vector<float> more = normal(1000, 50, 5);
  again.add(more);
  histogram.add(more);
  EXPECT_EQ(again.magnitudes(), histogram.magnitudes());
  EXPECT_EQ(again.count(), 2000);
}

TEST(Histogram, RestoresNothingImpossible) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(Histogram::restore(200, 0, {1}, 0, 1), Error);
  EXPECT_THROW(Histogram::restore(0, 4096, {1}, 0, 1), Error);
  EXPECT_THROW(Histogram::restore(0, -4097, {1}, 0, 1), Error);
  EXPECT_THROW(Histogram::restore(0, 0, std::vector<int64_t>(9000, 1), 0, 1), Error);
  EXPECT_THROW(Histogram::restore(0, 0, {-1}, 0, 1), Error);
  EXPECT_THROW(Histogram::restore(0, 0, {INT64_MAX, 1}, 0, 1), Error);
  EXPECT_THROW(Histogram::restore(0, 0, {1}, 1, 0), Error);
  EXPECT_THROW(Histogram::restore(0, 0, {1}, 0, 2), Error);
  EXPECT_THROW(Histogram::restore(0, 0, {1}, nan, 1), Error);
}

}  // namespace
}  // namespace hone::quantize
