// The interval of a ratio: it holds the true value as often as it says, and uses pairing.
#include "base/bootstrap.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace hone::base {
namespace {

/// Rounds of normal samples around `center`, each round disturbed by its own factor.
Rounds make_rounds(double center, double sd, const std::vector<double>& factors, size_t per_round,
                   Random* random) {
  Rounds rounds;
  for (const double factor : factors) {
    auto& round = rounds.emplace_back();
    for (size_t i = 0; i < per_round; ++i) round.push_back(factor * (center + sd * random->normal()));
  }
  return rounds;
}

TEST(RatioOfMedians, IsExactWithoutNoise) {
  const Rounds two(5, std::vector<double>(4, 2.0));
  const Rounds one(5, std::vector<double>(4, 1.0));
  const Ratio ratio = ratio_of_medians(two, one, Pairing::kPaired);
  EXPECT_TRUE(ratio.known);
  EXPECT_DOUBLE_EQ(ratio.value, 2);
  EXPECT_DOUBLE_EQ(ratio.low, 2);
  EXPECT_DOUBLE_EQ(ratio.high, 2);
}

TEST(RatioOfMedians, KnowsNothingOfNoiseFromTwoRounds) {
  const Ratio ratio = ratio_of_medians({{2, 2, 2}, {2, 2}}, {{1, 1, 1}, {1, 1}}, Pairing::kPaired);
  EXPECT_FALSE(ratio.known);
  EXPECT_DOUBLE_EQ(ratio.value, 2);
  EXPECT_FALSE(ratio_of_medians({}, {{1}}, Pairing::kPaired).known);
}

TEST(RatioOfMedians, CoversTheTruthAsOftenAsItSays) {
  Random random(7);
  int covered = 0;
  constexpr int kTrials = 150;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> factors(6);
    for (double& factor : factors) factor = 1 + 0.1 * random.normal();
    const Rounds a = make_rounds(12, 0.6, factors, 8, &random);
    const Rounds b = make_rounds(10, 0.5, factors, 8, &random);
    covered += ratio_of_medians(a, b, Pairing::kPaired).contains(1.2) ? 1 : 0;
  }
  // 95 % less nearly three standard errors of a share of 150 trials (1.8 points each).
  EXPECT_GE(covered, kTrials * 0.9);
}

TEST(RatioOfMedians, PairingRemovesTheDisturbanceThatBothShare) {
  Random random(11);
  const std::vector<double> factors = {1.0, 1.5, 0.8, 1.2, 1.9, 0.7};
  const Rounds a = make_rounds(11, 0.05, factors, 10, &random);
  const Rounds b = make_rounds(10, 0.05, factors, 10, &random);
  const Ratio paired = ratio_of_medians(a, b, Pairing::kPaired);
  const Ratio unpaired = ratio_of_medians(a, b, Pairing::kUnpaired);
  EXPECT_FALSE(paired.contains(1));
  EXPECT_TRUE(unpaired.contains(1));
}

TEST(RatioOfMedians, SkipsRoundsThatOneSideMissed) {
  const Rounds a = {{2}, {}, {2}, {2}, {200}};
  const Rounds b = {{1}, {50}, {1}, {1}};
  const Ratio ratio = ratio_of_medians(a, b, Pairing::kPaired);
  EXPECT_TRUE(ratio.known);
  EXPECT_DOUBLE_EQ(ratio.low, 2);
  EXPECT_DOUBLE_EQ(ratio.high, 2);
}

TEST(RatioOfMedians, DrawsFromEvenlySpacedSamplesOfMany) {
  Random random(13);
  const std::vector<double> factors(10, 1.0);
  const Rounds a = make_rounds(12, 1, factors, 1000, &random);
  const Rounds b = make_rounds(10, 1, factors, 1000, &random);
  const Ratio all = ratio_of_medians(a, b, Pairing::kPaired);
  const Ratio few = ratio_of_medians(a, b, Pairing::kPaired, 20'000);
  EXPECT_DOUBLE_EQ(few.value, all.value);
  EXPECT_TRUE(few.contains(1.2));
  // From 5 samples of each round instead of 1000; sqrt(200) = 14 times as wide.
  EXPECT_GT(few.high - few.low, 5 * (all.high - all.low));
  EXPECT_LT(few.high - few.low, 30 * (all.high - all.low));
}

TEST(RatioOfMedians, ManySamplesOfOneSideDoNotCostTheOtherItsFew) {
  Random random(17);
  const std::vector<double> factors(10, 1.0);
  const Rounds many = make_rounds(12, 1, factors, 2000, &random);
  const Rounds few = make_rounds(10, 1, factors, 20, &random);
  const Ratio all = ratio_of_medians(many, few, Pairing::kPaired, 8'000'000);
  const Ratio drawn = ratio_of_medians(many, few, Pairing::kPaired, 80'000);
  // From 200 samples of each side, 1.1 times as wide. From every 51st of both, one of each round of the few,
  // it were 1.9 times.
  EXPECT_LT(drawn.high - drawn.low, 1.5 * (all.high - all.low));
}

TEST(RatioOfMedians, FewRoundsWidenTheInterval) {
  const Ratio few = ratio_of_medians({{1.0}, {1.1}, {1.2}}, {{1.0}, {1.0}, {1.0}}, Pairing::kPaired);
  EXPECT_TRUE(few.known);
  EXPECT_GT(few.high, 1.25) << "beyond the largest ratio seen";
}

}  // namespace
}  // namespace hone::base
