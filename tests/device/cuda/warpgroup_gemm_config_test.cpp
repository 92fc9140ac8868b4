// Configurations of the warpgroup GEMM: which a problem has, how they lie in shared memory, why others are
// refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "device/cuda/conv_problems.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_params.hpp"

namespace hone::device::cuda {
namespace {

std::string refusal(const ConvProblem& p, const char* config, const DeviceProperties& device = {}) {
  return warpgroup_refusal(p, WarpgroupConfig::parse(config).value(), device).text();
}

TEST(WarpgroupGemmConfig, ConfigurationsAreValidUniqueAndReadBack) {
  for (const ConvProblem& p : {problem(1, 56, 64, 64), problem(1, 7, 512, 512), problem(1, 14, 1024, 256, 1),
                               problem(8, 28, 256, 512, 1, 2), problem(2, 13, 48, 72, 5, 2)}) {
    const auto configs = warpgroup_configs(p, {}, 1000);
    ASSERT_FALSE(configs.empty());
    std::set<std::string> seen;
    for (const WarpgroupConfig& config : configs) {
      EXPECT_EQ(warpgroup_refusal(p, config, {}).text(), "") << config.text();
      EXPECT_TRUE(seen.insert(config.text()).second) << config.text() << " is there twice";
      EXPECT_EQ(WarpgroupConfig::parse(config.text()), config);
    }
    const auto few = warpgroup_configs(p, {}, 3);
    ASSERT_EQ(few.size(), 3U);
    EXPECT_TRUE(std::equal(few.begin(), few.end(), configs.begin()));
  }
}

TEST(WarpgroupGemmConfig, OtherTextsAreNoConfigurations) {
  for (const char* text :
       {"", "64x64", "64x64_s", "64x64_s4_", "64x64_s4_c", "64x64_s4_c1", "64x64_s04", " 64x64_s4",
        "64x64_s4 ", "+64x64_s4", "64x64_s4_c2_c2", "64X64_s4", "64x64x64_s4"}) {
    EXPECT_FALSE(WarpgroupConfig::parse(text)) << text;
  }
}

TEST(WarpgroupGemmConfig, RefusalsSayWhy) {
  EXPECT_EQ(refusal(problem(1, 14, 256, 256), "64x32_s4_c8"), "");
  EXPECT_EQ(refusal(problem(1, 14, 40, 72), "128x128_s3"), "");
  EXPECT_EQ(refusal(problem(1, 14, 256, 256), "64x32_s4", {.warpgroups = false}),
            "it is for compute capability 9.0");
  EXPECT_EQ(refusal(problem(1, 14, 256, 256), "48x32_s4"), "no kernel has the tile of 48x32_s4");
  EXPECT_EQ(refusal(problem(1, 14, 256, 256), "64x32_s1"), "stages are not 2 to 8");
  EXPECT_EQ(refusal(problem(1, 14, 256, 256), "64x32_s9"), "stages are not 2 to 8");
  EXPECT_EQ(refusal(problem(1, 14, 256, 256), "64x32_s4_c3"), "a cluster has 1, 2, 4 or 8 blocks");
  EXPECT_EQ(refusal(problem(1, 14, 256, 256), "256x128_s8"),
            "it needs more shared memory than a block can get");
  // Tiles that never fit with what a cluster sends have no kernel.
  for (const char* config : {"128x256_s2_c2", "256x128_s2_c2"})
    EXPECT_EQ(refusal(problem(1, 14, 256, 256), config), "it needs more shared memory than a block can get");
  EXPECT_EQ(DeviceProperties{}.shared_memory, kMostSharedBytes);
  EXPECT_EQ(refusal(problem(1, 14, 64, 64, 1), "64x32_s2_c2"), "the depth has fewer stages than parts");
  EXPECT_EQ(refusal(problem(1, 14, 64, 60), "64x32_s2"), "filters are no multiple of 8");
  ConvProblem wide = problem(1, 14, 64, 64);
  wide.element = Element::kTf32;
  EXPECT_EQ(refusal(wide, "64x32_s2"), "it multiplies elements of two bytes");
  EXPECT_EQ(refusal(problem(1, 600, 8, 8, 301), "64x32_s2"),
            "the window is larger than a tensor map can say");
  EXPECT_EQ(refusal(problem(1, 90, 8, 8, 3, 9), "64x32_s2"), "a stride is above 8");
  ConvProblem overlapping = problem(1, 14, 64, 64, 1);
  overlapping.pixel_pitch = 32;
  EXPECT_EQ(refusal(overlapping, "64x32_s2"), "pixels overlap");
  ConvProblem logits = problem(8, 1, 2048, 1000, 1);
  logits.float_result = true;
  EXPECT_EQ(refusal(logits, "64x32_s8_c4"), "");
  EXPECT_EQ(refusal(logits, "64x32_s8"), "floats leave a cluster only");
  EXPECT_EQ(conv_refusal(logits).text(), "its result has other elements than its operands");
}

TEST(WarpgroupGemmConfig, SharedMemoryHoldsTheRingOrTheTile) {
  // 3 stages of (128 + 128) rows of 128 bytes; bias; two barriers a stage and as much for a cluster's; the
  // operand.
  EXPECT_EQ(warpgroup_shared_bytes({128, 128, 3, 1}, false), 3 * 256 * 128 + 128 * 4 + 4 * 16);
  EXPECT_EQ(warpgroup_shared_bytes({128, 128, 3, 1}, true), 3 * 256 * 128 + 128 * 4 + 4 * 16 + 128 * 128 * 2);
  // The staged tile of floats is larger than 2 stages.
  EXPECT_EQ(warpgroup_staging_bytes({128, 128, 2, 1}), 128 * (128 + kStagePad) * 4);
  // Data that a cluster sends arrive while the ring is in use.
  EXPECT_EQ(warpgroup_staging_bytes({64, 32, 4, 8}), 4 * 96 * 128 + 64 * (32 + kStagePad) * 4);
  // 4 stages of (64 + 32) rows, 64 rows received, bias, two barriers a stage and one more, the operand.
  EXPECT_EQ(warpgroup_shared_bytes({64, 32, 4, 8}, true),
            4 * 96 * 128 + 64 * (32 + kStagePad) * 4 + 32 * 4 + 5 * 16 + 64 * 32 * 2);
  // The memory after the barriers is copied 16 bytes at a time.
  for (const WarpgroupShape& shape : kWarpgroupShapes) {
    for (int stages = 2; stages <= 8; ++stages) {
      for (const int parts : {1, 2, 4, 8}) {
        const WarpgroupConfig config{shape.tile_m, shape.tile_n, stages, parts};
        EXPECT_EQ(warpgroup_staging_bytes(config) % 16, 0);
        EXPECT_EQ(warpgroup_shared_bytes(config, false) % 16, 0);
      }
    }
  }
}

}  // namespace
}  // namespace hone::device::cuda
