// Configurations of the convolution from slabs: which a problem has, how they lie in shared memory, why
// others are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cuda/conv_problems.hpp"
#include "device/cuda/plugin/kernels/warpgroup_slab_params.hpp"

namespace hone::device::cuda {
namespace {

std::string refusal(const ConvProblem& p, const char* config, const DeviceLimits& device = {}) {
  return slab_refusal(p, SlabConfig::parse(config).value(), device);
}

std::vector<std::string> configs(const ConvProblem& p) {
  std::vector<std::string> texts;
  for (const SlabConfig& config : slab_configs(p, {})) {
    EXPECT_EQ(slab_refusal(p, config, {}), "") << config.text();
    EXPECT_EQ(SlabConfig::parse(config.text()), config);
    texts.push_back(config.text());
  }
  return texts;
}

TEST(SlabConfig, AProblemHasThoseThatItsChannelsAndMemoryAllow) {
  using testing::ElementsAre;
  EXPECT_THAT(configs(problem(8, 7, 512, 512)),
              ElementsAre("64x32_c2", "64x64_c2", "64x128_c2", "64x32_c4", "64x64_c4", "64x128_c4",
                          "64x32_c8", "64x64_c8", "64x128_c8"));
  EXPECT_THAT(configs(problem(1, 28, 128, 128)), ElementsAre("64x32_c2", "64x64_c2"));
  EXPECT_THAT(configs(problem(1, 28, 64, 128)), ElementsAre());
  EXPECT_THAT(configs(problem(1, 56, 256, 128)), ElementsAre("64x32_c2", "64x64_c2", "64x32_c4", "64x64_c4"));
  EXPECT_THAT(configs(problem(1, 14, 256, 256, 1)), ElementsAre());
}

TEST(SlabConfig, OtherTextsAreNoConfigurations) {
  for (const char* text : {"", "64x64", "64x64_c", "64x64_c4_", "64x64_s4", "64x64_c04", " 64x64_c4",
                           "64x64_c4 ", "128x64_c4", "64X64_c4", "64x064_c4"})
    EXPECT_FALSE(SlabConfig::parse(text)) << text;
}

TEST(SlabConfig, RefusalsSayWhy) {
  const ConvProblem good = problem(1, 14, 256, 256);
  EXPECT_EQ(refusal(good, "64x32_c4"), "");
  EXPECT_EQ(refusal(good, "64x32_c4", {.warpgroups = false}), "it is for compute capability 9.0");
  EXPECT_EQ(refusal(good, "64x48_c4"), "no kernel has the tile of 64x48_c4");
  EXPECT_EQ(refusal(good, "64x32_c3"), "a cluster has 2, 4 or 8 blocks");
  EXPECT_EQ(refusal(good, "64x32_c8"), "the cluster has more blocks than the image 64 channels");
  EXPECT_EQ(refusal(good, "64x128_c4", {.shared_memory = 99 * 1024}),
            "it needs more shared memory than a block can get");
  for (const ConvProblem& p : {problem(1, 14, 256, 256, 5), problem(1, 14, 256, 256, 3, 2)})
    EXPECT_EQ(refusal(p, "64x32_c4"), "its windows are not of 3 x 3, one apart");
  ConvProblem dilated = good;
  dilated.dilation_h = 2;
  EXPECT_EQ(refusal(dilated, "64x32_c4"), "its windows are not of 3 x 3, one apart");
  EXPECT_EQ(refusal(problem(1, 64, 256, 256), "64x32_c4"), "");
  EXPECT_EQ(refusal(problem(1, 65, 256, 256), "64x32_c4"), "its rows have more than 64 pixels");
  EXPECT_EQ(refusal(problem(1, 14, 256, 60), "64x32_c4"), "filters are no multiple of 8");
  ConvProblem wide = good;
  wide.element = Element::kTf32;
  EXPECT_EQ(refusal(wide, "64x32_c4"), "it multiplies elements of two bytes");
}

TEST(SlabConfig, RowsOfATileAreAPowerOfTwoLong) {
  const auto expect_shape = [](int size, int pitch, int tiles, int positions) {
    const SlabShape shape(problem(1, size, 64, 64));
    EXPECT_EQ(1 << shape.pitch_log2, pitch) << size;
    EXPECT_EQ(shape.tiles_y, tiles) << size;
    EXPECT_EQ(shape.bytes, positions * 128) << size;
  };
  expect_shape(1, 8, 1, 10 * 8);
  expect_shape(7, 8, 1, 10 * 8);
  expect_shape(9, 16, 3, 6 * 16);
  expect_shape(14, 16, 4, 6 * 16);
  expect_shape(28, 32, 14, 4 * 32);
  expect_shape(56, 64, 56, 3 * 64);
}

TEST(SlabConfig, SharedMemoryHoldsFiltersSlabsAndSums) {
  // Nine taps of 64 filters, four slabs of 10 x 8 positions, sums of 64 x 64, 14 pairs of barriers, the
  // operand.
  const SlabMemory memory = slab_memory(64, 2, 4, 80 * 128);
  EXPECT_EQ(memory.slabs, 9 * 64 * 128);
  EXPECT_EQ(memory.receive, memory.slabs + 4 * 80 * 128);
  EXPECT_EQ(memory.barriers, memory.receive + 64 * (64 + kStagePad) * 4);
  EXPECT_EQ(memory.operand, memory.barriers + 14 * 16);
  EXPECT_EQ(memory.bytes, memory.operand + 32 * 64 * 2);
  EXPECT_EQ(memory.operand % 16, 0);
}

}  // namespace
}  // namespace hone::device::cuda
