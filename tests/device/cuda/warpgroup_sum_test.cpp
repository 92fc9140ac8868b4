// Configurations of the warpgroup GEMM that adds two convolutions: which a sum has, why others are refused.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "device/cuda/conv_problems.hpp"

namespace hone::device::cuda {
namespace {

/// The end of the first block of ResNet-50's third stage.
ConvSum block() { return {problem(1, 14, 256, 1024, 1), problem(1, 28, 512, 1024, 1, 2)}; }

std::string refusal(const ConvSum& sum, const char* config, const DeviceProperties& device = {}) {
  return warpgroup_sum_refusal(sum, WarpgroupConfig::parse(config).value(), device).text();
}

TEST(WarpgroupSum, ConfigurationsAreValidAndSomeAreClusters) {
  const auto configs = warpgroup_sum_configs(block(), {});
  ASSERT_FALSE(configs.empty());
  for (const WarpgroupConfig& config : configs)
    EXPECT_EQ(warpgroup_sum_refusal(block(), config, {}).text(), "") << config.text();
  EXPECT_TRUE(
      std::any_of(configs.begin(), configs.end(), [](const auto& config) { return config.parts > 1; }));
}

TEST(WarpgroupSum, ThePartsShareTheDepthOfBoth) {
  // 1 and 2 stages of 64 channels.
  const ConvSum shallow{problem(1, 14, 64, 256, 1), problem(1, 14, 128, 256, 1)};
  EXPECT_EQ(refusal(shallow, "64x64_s2_c2"), "");
  EXPECT_EQ(refusal(shallow, "64x64_s2_c4"), "the depth has fewer stages than parts");
}

TEST(WarpgroupSum, RefusalsSayWhy) {
  EXPECT_EQ(refusal(block(), "64x64_s8"), "");
  ConvSum sum = block();
  sum.second.stride_h = 1;
  EXPECT_EQ(refusal(sum, "64x64_s8"), "the results of both convolutions differ");
  sum = block();
  sum.second.channels = 513;
  EXPECT_EQ(refusal(sum, "64x64_s8"), "channels are no multiple of 8");
  EXPECT_TRUE(warpgroup_sum_configs(sum, {}).empty());
  sum = block();
  sum.second = problem(1, 127, 64, 1024, 1, 9);
  sum.first = problem(1, 15, 64, 1024, 1);
  EXPECT_EQ(refusal(sum, "64x64_s8"), "a stride is above 8");
  EXPECT_TRUE(warpgroup_sum_configs(sum, {}).empty());
  EXPECT_EQ(refusal(block(), "64x64_s8", {.warpgroups = false}), "it is for compute capability 9.0");
}

}  // namespace
}  // namespace hone::device::cuda
