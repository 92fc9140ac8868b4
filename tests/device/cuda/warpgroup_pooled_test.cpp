// Configurations of the warpgroup GEMM that pools what it makes: which a problem has, why others are refused.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_pooled.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "device/cuda/conv_problems.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_pooled_params.hpp"

namespace hone::device::cuda {
namespace {

std::string refusal(const ConvProblem& p, const char* config, const DeviceProperties& device = {}) {
  return warpgroup_pooled_refusal(p, WarpgroupConfig::parse(config).value(), device).text();
}

TEST(WarpgroupPooled, ConfigurationsAreValidAndHaveAllTiles) {
  for (const ConvProblem& p :
       {problem(1, 7, 512, 2048, 1), problem(8, 7, 512, 512), problem(3, 1, 64, 8, 1)}) {
    const auto configs = warpgroup_pooled_configs(p, {});
    for (const WarpgroupConfig& config : configs) {
      EXPECT_EQ(warpgroup_pooled_refusal(p, config, {}).text(), "") << config.text();
      EXPECT_LE(pooled_shared_bytes(config), DeviceProperties{}.shared_memory) << config.text();
    }
    for (const int tile_n : kPooledTiles) {
      EXPECT_TRUE(std::any_of(configs.begin(), configs.end(), [&](const WarpgroupConfig& config) {
        return config.tile_m == kPooledRows && config.tile_n == tile_n;
      })) << tile_n;
    }
  }
}

TEST(WarpgroupPooled, RefusalsSayWhy) {
  EXPECT_EQ(refusal(problem(1, 7, 512, 2048, 1), "64x32_s8"), "");
  EXPECT_EQ(refusal(problem(1, 8, 512, 2048, 1), "64x128_s4"), "");
  EXPECT_EQ(refusal(problem(1, 13, 512, 1000, 1), "64x32_s8"), "its images have more than 64 pixels");
  EXPECT_EQ(refusal(problem(1, 15, 64, 64, 3, 2), "64x32_s8"), "");
  EXPECT_EQ(refusal(problem(1, 7, 512, 2048, 1), "128x32_s4"), "no kernel pools tiles of 128x32_s4");
  EXPECT_EQ(refusal(problem(1, 7, 512, 2048, 1), "64x32_s4_c2"), "no kernel pools tiles of 64x32_s4_c2");
  EXPECT_EQ(refusal(problem(1, 7, 512, 2048, 1), "64x32_s9"), "stages are not 2 to 8");
  EXPECT_EQ(refusal(problem(1, 7, 512, 2044, 1), "64x32_s4"), "filters are no multiple of 8");
  EXPECT_EQ(refusal(problem(1, 7, 512, 2048, 1), "64x32_s4", {.warpgroups = false}),
            "it is for compute capability 9.0");
  EXPECT_TRUE(warpgroup_pooled_configs(problem(1, 13, 512, 1000, 1), {}).empty());
  EXPECT_TRUE(warpgroup_pooled_configs(problem(1, 7, 512, 2048, 1), {.warpgroups = false}).empty());
}

TEST(WarpgroupPooled, SharedMemoryHoldsTheRingAndTheSumsOfTwoTiles) {
  // 4 stages of 64 + 32 rows of 128 bytes and two barriers; floats of four warps, twice.
  EXPECT_EQ(pooled_shared_bytes({64, 32, 4, 1}), 4 * (96 * 128 + 16) + 2 * 4 * 32 * 4);
}

}  // namespace
}  // namespace hone::device::cuda
