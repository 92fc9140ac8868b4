// Configurations of the resident GEMM: which a problem has, how they lie in shared memory, why others are
// refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "device/cuda/conv_problems.hpp"
#include "device/cuda/plugin/kernels/gemm/resident/resident_gemm_params.hpp"

namespace hone::device::cuda {
namespace {

std::string refusal(const ConvProblem& p, const char* config, const DeviceProperties& device = {}) {
  return resident_refusal(p, ResidentConfig::parse(config).value(), device).text();
}

TEST(ResidentGemmConfig, ConfigurationsAreValidUniqueAndReadBack) {
  for (const ConvProblem& p : {problem(1, 56, 64, 64), problem(1, 7, 512, 512), problem(1, 14, 1024, 256, 1),
                               problem(8, 28, 256, 512, 1, 2), problem(2, 13, 48, 72, 5, 2)}) {
    const auto configs = resident_configs(p, {}, 1000);
    ASSERT_FALSE(configs.empty());
    std::set<std::string> seen;
    for (const ResidentConfig& config : configs) {
      EXPECT_EQ(resident_refusal(p, config, {}).text(), "") << config.text();
      EXPECT_TRUE(seen.insert(config.text()).second) << config.text() << " is there twice";
      EXPECT_EQ(ResidentConfig::parse(config.text()), config);
    }
    const auto few = resident_configs(p, {}, 3);
    ASSERT_LE(few.size(), 3U);
    EXPECT_TRUE(std::equal(few.begin(), few.end(), configs.begin()));
  }
}

TEST(ResidentGemmConfig, OtherTextsAreNoConfigurations) {
  for (const char* text : {"", "32x32", "32x32_k", "32x32_k8_", "32x32_k8_c", "32x32_k8_c1", "32x32_k08",
                           " 32x32_k8", "32x32_k8 ", "+32x32_k8", "32x32_k8_c2_c2", "32X32_k8"}) {
    EXPECT_FALSE(ResidentConfig::parse(text)) << text;
  }
}

TEST(ResidentGemmConfig, RefusalsSayWhy) {
  EXPECT_EQ(refusal(problem(1, 14, 256, 256), "32x32_k8_c2"), "");
  EXPECT_EQ(refusal(problem(1, 14, 256, 256), "48x32_k8"), "no kernel has the tile of 48x32_k8");
  EXPECT_EQ(refusal(problem(1, 14, 256, 256), "32x32_k8_c3"), "a cluster has 2, 4 or 8 blocks");
  EXPECT_EQ(refusal(problem(1, 14, 256, 256), "32x32_k8", {.clusters = false}),
            "it needs compute capability 9.0");
  EXPECT_EQ(refusal(problem(1, 14, 40, 64), "32x32_k8"), "its channels are no multiple of 16");
  EXPECT_EQ(refusal(problem(1, 14, 48, 64), "32x32_k8_c2"), "its channels are no multiple of 32");
  EXPECT_EQ(refusal(problem(1, 14, 512, 512), "64x64_k2"),
            "its operands are larger than the shared memory of a block");
  ConvProblem gaps = problem(1, 14, 64, 64);
  gaps.pixel_pitch = 72;
  EXPECT_EQ(refusal(gaps, "32x32_k8"), "its pixels overlap or have gaps");
}

TEST(ResidentGemmConfig, TilesOfWindowsMakeFewTilesOverSmallPatches) {
  // 28 x 28 in rectangles of 32: 8 x 4 leave least over and lie under the smallest patch.
  const ResidentPatch patch = resident_patch(problem(1, 28, 128, 128), 32);
  EXPECT_EQ(patch.tiles_y * patch.tiles_x, 28);
  EXPECT_EQ(patch.height * patch.width, 60);
  // 7 x 7 fits into one of 64.
  EXPECT_EQ(resident_tiles_m(problem(3, 7, 512, 512), 64), 3);
  // Strides spread the patch: 2 x 16 pixels two apart under 3 x 3 reach over 5 x 33.
  const ResidentPatch strided = resident_patch(problem(1, 28, 64, 64, 3, 2), 32);
  EXPECT_EQ(strided.height, (strided.tile_h - 1) * 2 + 3);
  EXPECT_EQ(strided.width, (strided.tile_w - 1) * 2 + 3);
}

TEST(ResidentGemmConfig, SharedMemoryHoldsEverythingInTurn) {
  for (const ConvProblem& p :
       {problem(1, 28, 128, 128), problem(1, 7, 512, 512), problem(1, 14, 64, 64, 1)}) {
    for (const ResidentConfig& config : resident_configs(p, {}, 1000)) {
      const ResidentMemory memory = resident_memory(p, config);
      const int64_t weights_at = ResidentMemory::kBarrier + config.tile_n * 4;
      EXPECT_GE(memory.patch_at, weights_at + config.tile_n * memory.weight_pitch);
      EXPECT_GE(memory.receive_at,
                weights_at + int64_t{config.slices} * config.tile_m * (config.tile_n + kStagePad) * 4);
      EXPECT_LE(memory.total, DeviceProperties{}.shared_memory) << config.text();
      // Rows of an odd number of 16 bytes: eight of them lie in eight groups of banks.
      EXPECT_EQ(memory.weight_pitch / 16 % 2, 1);
      EXPECT_EQ(memory.patch_pitch / 16 % 2, 1);
    }
  }
}

}  // namespace
}  // namespace hone::device::cuda
