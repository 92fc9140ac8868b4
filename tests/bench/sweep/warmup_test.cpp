// Warm-up detection on synthetic series.
#include "bench/sweep/warmup.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.hpp"

namespace hone::bench {
namespace {

WarmupDetector fed(const std::vector<double>& series, WarmupLimits limits = {0, 1e9}) {
  WarmupDetector detector(limits);
  detector.add(series, 0.001 * static_cast<double>(series.size()));
  return detector;
}

TEST(WarmupDetector, NeedsMoreThanTwoWindows) {
  EXPECT_FALSE(fed({10, 10, 10, 10, 10, 10}).stationary());
  EXPECT_TRUE(fed({10, 10, 10, 10, 10, 10, 10}).stationary());
}

TEST(WarmupDetector, IgnoresTheFirstRun) { EXPECT_TRUE(fed({500, 10, 10, 10, 10, 10, 10}).stationary()); }

TEST(WarmupDetector, WaitsWhileTheLatencyFalls) {
  std::vector<double> series;
  for (int i = 0; i < 60; ++i) series.push_back(10 + 20 * std::exp(-i / 20.0));
  EXPECT_FALSE(fed(series).stationary());
  for (int i = 60; i < 300; ++i) series.push_back(10 + 20 * std::exp(-i / 20.0));
  EXPECT_TRUE(fed(series).stationary());
}

TEST(WarmupDetector, WaitsAfterAStep) {
  std::vector<double> series(20, 30.0);
  series.insert(series.end(), 4, 10.0);
  EXPECT_FALSE(fed(series).stationary());
  series.insert(series.end(), 20, 10.0);
  EXPECT_TRUE(fed(series).stationary());
}

TEST(WarmupDetector, AcceptsNoiseAroundALevel) {
  base::Random random(3);
  int stationary = 0;
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<double> series;
    for (int i = 0; i < 40; ++i) series.push_back(10 * (1 + 0.1 * random.normal()));
    stationary += fed(series).stationary() ? 1 : 0;
  }
  // Two standard errors would accept 95 %; small windows underestimate their spread, so fewer (78 %).
  EXPECT_GE(stationary, 70);
}

TEST(WarmupDetector, HoldsItsLimits) {
  const std::vector<double> level(20, 10.0);
  EXPECT_FALSE(fed(level, {1, 10}).done());
  EXPECT_TRUE(fed(level, {0.01, 10}).done());
  WarmupDetector never({0, 1});
  never.add(std::vector<double>{1.0, 2.0, 4.0, 8.0}, 0.5);
  EXPECT_FALSE(never.done());
  never.add(std::vector<double>{16.0, 32.0, 64.0, 128.0}, 0.6);
  EXPECT_TRUE(never.done());
  EXPECT_FALSE(never.stationary());
}

}  // namespace
}  // namespace hone::bench
