// Calibrators against the steps of their definitions, written out, and against values computed by hand.
#include "quantize/calibrators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace hone::quantize {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Histogram histogram_of(const std::vector<float>& values) {
  Histogram histogram;
  EXPECT_TRUE(histogram.add(values));
  return histogram;
}

/// The definition, step by step: every bin has a level, each level's mass goes back to its bins that are not
/// empty, both are normalised.
double divergence_by_steps(std::vector<double> bins, size_t kept, int levels) {
  bins[0] = bins[1];
  std::vector<double> p(bins.begin(), bins.begin() + static_cast<std::ptrdiff_t>(kept));
  const std::vector<double> inside = p;
  for (size_t i = kept; i < bins.size(); ++i) p.back() += bins[i];
  std::vector<double> mass(static_cast<size_t>(levels));
  std::vector<double> used(static_cast<size_t>(levels));
  const auto level_of = [&](size_t bin) { return bin * static_cast<size_t>(levels) / kept; };
  for (size_t i = 0; i < kept; ++i) {
    if (inside[i] == 0) continue;
    mass[level_of(i)] += inside[i];
    used[level_of(i)] += 1;
  }
  std::vector<double> q(kept);
  for (size_t i = 0; i < kept; ++i) q[i] = inside[i] == 0 ? 0 : mass[level_of(i)] / used[level_of(i)];
  const double p_sum = std::accumulate(p.begin(), p.end(), 0.0);
  const double q_sum = std::accumulate(q.begin(), q.end(), 0.0);
  double divergence = 0;
  for (size_t i = 0; i < kept; ++i) {
    if (p[i] == 0) continue;
    if (q[i] == 0) return kInfinity;
    divergence += p[i] / p_sum * std::log(p[i] / p_sum / (q[i] / q_sum));
  }
  return divergence;
}

std::vector<double> random_bins(size_t count, uint32_t seed, double empty) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> bins(count);
  for (size_t i = 0; i < count; ++i) {
    const double height = 1000 * std::exp(-8.0 * static_cast<double>(i) / static_cast<double>(count));
    bins[i] = uniform(generator) < empty ? 0 : std::floor(height * uniform(generator));
  }
  return bins;
}

TEST(Entropy, IsTheDefinition) {
  for (const uint32_t seed : {1u, 2u, 3u, 4u}) {
    for (const double empty : {0.0, 0.4, 0.9}) {
      const std::vector<double> bins = random_bins(400, seed, empty);
      for (const int levels : {128, 256}) {
        size_t best = bins.size();
        double least = kInfinity;
        for (auto kept = static_cast<size_t>(levels); kept <= bins.size(); ++kept) {
          const double expected = divergence_by_steps(bins, kept, levels);
          const double found = entropy_divergence(bins, kept, levels);
          if (std::isinf(expected)) {
            ASSERT_EQ(found, kInfinity);
            continue;
          }
          // Sums of some hundred terms below 10, each with an error of 2^-53.
          ASSERT_NEAR(found, expected, 1e-11) << kept;
          if (found <= least) {
            least = found;
            best = kept;
          }
        }
        const double total = std::accumulate(bins.begin() + 1, bins.end(), bins[1]);
        const bool has_spike = *std::max_element(bins.begin() + 1, bins.end()) > total / 10;
        EXPECT_TRUE(has_spike || entropy_bins(bins, levels) == best) << best;
      }
    }
  }
}

TEST(Entropy, OfFourBinsInTwoLevels) {
  // 3 bins with a tail of 1: P = (4, 4, 3)/11; levels of 2 and 1 bins hold 8 and 2, Q = (4, 4, 2)/10.
  const std::vector<double> bins = {9, 4, 2, 1};
  const double expected = 8.0 / 11 * std::log(10.0 / 11) + 3.0 / 11 * std::log(3.0 / 11 / 0.2);
  EXPECT_NEAR(entropy_divergence(bins, 3, 2), expected, 1e-15);
}

TEST(Entropy, IsNotDecidedByABackground) {
  // Pixels of 256 values, half of them the background's, as Fashion-MNIST has them once normalised.
  std::vector<double> bins(2072);
  for (size_t i = 0; i < 256; ++i) bins[i * 8 + 20] = 500;
  const size_t without = entropy_bins(bins, 128);
  bins[829 / 8 * 8 + 4] = 128000;
  EXPECT_EQ(entropy_bins(bins, 128), without);
  EXPECT_GT(entropy_bins(bins, 128), bins.size() * 9 / 10);
  // Nothing else is there to count as.
  EXPECT_EQ(entropy_bins(std::vector<double>(256, 0), 128), 256u);
  std::vector<double> single(300);
  single[200] = 7;
  EXPECT_GE(entropy_bins(single, 128), 201u);
}

TEST(Entropy, KeepsEverythingOfFewBins) {
  EXPECT_EQ(entropy_bins(std::vector<double>{5}, 128), 1u);
  EXPECT_EQ(entropy_bins(std::vector<double>(100, 1), 128), 100u);
}

TEST(Entropy, ClipsOutliersAndKeepsUniform) {
  std::vector<float> values;
  std::mt19937 generator(3);
  std::normal_distribution<float> normal(0, 1);
  for (int i = 0; i < 100000; ++i) values.push_back(normal(generator));
  values.push_back(100);
  const Range clipped = choose_range(histogram_of(values), Calibrator::kEntropy, IntegerForm::kSymmetric);
  EXPECT_LT(clipped.high, 10);
  EXPECT_GT(clipped.high, 2);
  std::vector<float> flat;
  for (int i = -50000; i <= 50000; ++i) flat.push_back(static_cast<float>(i) * 1e-4f);
  const Range kept = choose_range(histogram_of(flat), Calibrator::kEntropy, IntegerForm::kSymmetric);
  EXPECT_NEAR(kept.high, 5, 0.05);
}

TEST(Minmax, IsTheRangeAroundZero) {
  const Histogram positive = histogram_of({2, 3});
  const Range range = choose_range(positive, Calibrator::kMinmax, IntegerForm::kAsymmetric);
  EXPECT_EQ(range.low, 0);
  EXPECT_EQ(range.high, 3);
  const Range both = choose_range(histogram_of({-7, 3}), Calibrator::kMinmax, IntegerForm::kSymmetric);
  EXPECT_EQ(both.low, -7);
  EXPECT_EQ(both.high, 3);
}

TEST(Percentile, IsTheLeastEdgeThatHoldsTheShare) {
  std::vector<float> values;
  for (int i = 1; i <= 10000; ++i) values.push_back(static_cast<float>(i));
  const Histogram histogram = histogram_of(values);
  for (const double percent : {50.0, 99.0, 99.9, 100.0}) {
    const Range range =
        choose_range(histogram, Calibrator::kPercentile, IntegerForm::kUnsigned, {.percentile = percent});
    EXPECT_NEAR(range.high, 100 * percent, 2 * histogram.width()) << percent;
    const auto held =
        std::ranges::count_if(values, [&](float value) { return static_cast<double>(value) <= range.high; });
    EXPECT_GE(static_cast<double>(held), 100 * percent) << percent;
  }
}

TEST(Percentile, CutsBothSidesOfAnAsymmetricRange) {
  std::vector<float> values;
  for (int i = -2000; i < 8000; ++i) values.push_back(static_cast<float>(i));
  const Histogram histogram = histogram_of(values);
  const Range range =
      choose_range(histogram, Calibrator::kPercentile, IntegerForm::kAsymmetric, {.percentile = 90});
  EXPECT_NEAR(range.low, -1500, 2 * histogram.width());
  EXPECT_NEAR(range.high, 7500, 2 * histogram.width());
}

TEST(Mse, HasTheLeastErrorOfAllCandidates) {
  std::vector<float> values;
  std::mt19937 generator(5);
  std::exponential_distribution<float> exponential(1);
  for (int i = 0; i < 20000; ++i) values.push_back(exponential(generator) * (i % 2 == 0 ? 1.0f : -1.0f));
  const Histogram histogram = histogram_of(values);
  for (const IntegerForm form : {IntegerForm::kSymmetric, IntegerForm::kAsymmetric}) {
    const auto error = [&](const Range& range) {
      const Scale scale = scale_of(range, form);
      double sum = 0;
      for (const float value : values) {
        const double difference = fake_quantized(value, scale, form) - value;
        sum += difference * difference;
      }
      return sum;
    };
    const Range whole = choose_range(histogram, Calibrator::kMinmax, form);
    const double found = error(choose_range(histogram, Calibrator::kMse, form));
    for (double part = 0.2; part <= 1; part += 0.01) {
      // Bins count all their values at the centre, which is worth a few thousandths.
      EXPECT_LT(found, 1.01 * error({whole.low * part, whole.high * part})) << part;
    }
    EXPECT_LT(found, error(whole));
  }
}

TEST(Scale, HasZeroExactly) {
  const Scale symmetric = scale_of({-1, 2.54}, IntegerForm::kSymmetric);
  EXPECT_FLOAT_EQ(symmetric.scale, 0.02f);
  EXPECT_EQ(symmetric.zero_point, 0);
  EXPECT_FLOAT_EQ(scale_of({0, 2.55}, IntegerForm::kUnsigned).scale, 0.01f);
  const Scale asymmetric = scale_of({-0.5, 2.05}, IntegerForm::kAsymmetric);
  EXPECT_FLOAT_EQ(asymmetric.scale, 0.01f);
  EXPECT_EQ(asymmetric.zero_point, 50);
  EXPECT_EQ(fake_quantized(0, asymmetric, IntegerForm::kAsymmetric), 0);
}

TEST(Scale, OfNothingIsOne) {
  Histogram zeros = histogram_of({0, 0, 0});
  for (const Calibrator calibrator : kCalibrators) {
    for (const IntegerForm form :
         {IntegerForm::kSymmetric, IntegerForm::kUnsigned, IntegerForm::kAsymmetric}) {
      EXPECT_EQ(scale_of(choose_range(zeros, calibrator, form), form).scale, 1);
      EXPECT_EQ(scale_of(choose_range(Histogram(), calibrator, form), form).scale, 1);
    }
  }
}

TEST(Scale, IsNeverDenormalOrInfinite) {
  EXPECT_GE(scale_of({-1e-44, 1e-44}, IntegerForm::kSymmetric).scale, std::numeric_limits<float>::min());
  EXPECT_TRUE(std::isfinite(scale_of({-3e38, 3e38}, IntegerForm::kAsymmetric).scale));
}

TEST(FakeQuantized, RoundsHalvesToEvenAndClips) {
  const Scale one{1, 0};
  EXPECT_EQ(fake_quantized(0.5f, one, IntegerForm::kSymmetric), 0);
  EXPECT_EQ(fake_quantized(1.5f, one, IntegerForm::kSymmetric), 2);
  EXPECT_EQ(fake_quantized(-300, one, IntegerForm::kSymmetric), -128);
  EXPECT_EQ(fake_quantized(300, one, IntegerForm::kUnsigned), 255);
  EXPECT_EQ(fake_quantized(-3, one, IntegerForm::kUnsigned), 0);
}

}  // namespace
}  // namespace hone::quantize
