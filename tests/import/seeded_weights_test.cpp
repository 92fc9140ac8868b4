// Seeded parameters: the same bits everywhere, and the spread their role asks for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "import/zoo/weights.hpp"

namespace hone::importer {
namespace {

std::vector<double> make(uint64_t seed, const ParameterSpec& spec) {
  return seeded_weights(seed)->make(spec).to_double();
}

struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments moments(std::span<const double> values) {
  Moments result;
  for (const double value : values) result.mean += value / static_cast<double>(values.size());
  for (const double value : values) result.deviation += std::pow(value - result.mean, 2);
  result.deviation = std::sqrt(result.deviation / static_cast<double>(values.size()));
  return result;
}

const ParameterSpec kFilterSpec{"conv1.weight", {16, 64, 3, 3}, Role::kFilter, 1.5f, 2};

TEST(SeededWeights, DependOnSeedAndNameAlone) {
  const auto values = make(7, kFilterSpec);
  EXPECT_EQ(values, make(7, kFilterSpec));
  EXPECT_NE(values, make(8, kFilterSpec));
  ParameterSpec renamed = kFilterSpec;
  renamed.name = "conv2.weight";
  EXPECT_NE(values, make(7, renamed));
}

TEST(SeededWeights, FilterHasTheDeviationOfItsFanInAndLacksAPartOfItsMean) {
  const size_t fan_in = 64 * 9;
  const double wanted = 1.5 / std::sqrt(static_cast<double>(fan_in));
  // The same numbers with their means.
  ParameterSpec spec = kFilterSpec;
  spec.mean_part = 0;
  const auto whole = make(0, spec);
  for (const int part : {2, 4}) {
    spec.mean_part = part;
    const auto values = make(0, spec);
    // 9216 samples: the deviation of their deviation is wanted / sqrt(2 * 9216), 0.7 %.
    EXPECT_NEAR(moments(values).deviation, wanted, 0.03 * wanted);
    for (size_t row = 0; row < 16; ++row) {
      const double mean = moments(std::span(values).subspan(row * fan_in, fan_in)).mean;
      const double full = moments(std::span(whole).subspan(row * fan_in, fan_in)).mean;
      // The mean is taken out to one unit of the integer sum, 1 / 37837 deviations.
      EXPECT_NEAR(mean, full * (part - 1) / part, wanted / 30000);
    }
  }
}

TEST(SeededWeights, FilterKeepsItsWholeMeanUnlessAskedFor) {
  ParameterSpec spec = kFilterSpec;
  spec.mean_part = 0;
  const auto values = make(0, spec);
  double largest = 0;
  for (size_t row = 0; row < 16; ++row) {
    largest = std::max(largest, std::abs(moments(std::span(values).subspan(row * 576, 576)).mean));
  }
  // Means of 576 values scatter with 1 / 24 of their deviation.
  EXPECT_GT(largest, 0.02 * 1.5 / 24);
}

TEST(SeededWeights, NormalizationParametersScatterAroundTheirCentre) {
  const auto check = [](Role role, float gain, double mean, double deviation) {
    const auto values = make(3, {"bn", {10000}, role, gain});
    const Moments found = moments(values);
    EXPECT_NEAR(found.mean, mean, 0.05 * deviation);
    EXPECT_NEAR(found.deviation, deviation, 0.05 * deviation);
    return values;
  };
  check(Role::kScale, 0.4f, 0.4, 0.04);
  check(Role::kShift, 1.0f, 0.0, 0.1);
  check(Role::kMean, 1.0f, 0.0, 0.1);
  check(Role::kBias, 1.0f, 0.0, 0.1);
  EXPECT_THAT(check(Role::kVariance, 1.0f, 1.0, 0.2), testing::Each(testing::Gt(0.39)));
}

}  // namespace
}  // namespace hone::importer
