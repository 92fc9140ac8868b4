// How the blocks of a cluster share an image: all of it, once, within their memory.
#include "device/cuda/regions/squeeze_excite/plugin/kernels/squeeze_excite.hpp"

#include <gtest/gtest.h>

namespace hone::device::cuda {
namespace {

SqueezeExcite sized(int64_t batch, int64_t channels, int64_t pixels, int64_t hidden) {
  return {.batch = batch, .channels = channels, .pixels = pixels, .hidden = hidden};
}

/// EfficientNet-B0's, SENet's, and odd ones.
std::vector<SqueezeExcite> sizes(int64_t batch) {
  std::vector<SqueezeExcite> result;
  for (const auto& [channels, pixels, hidden] :
       {std::tuple(32, 12544, 8), std::tuple(96, 3136, 4),   std::tuple(144, 3136, 6),
        std::tuple(144, 784, 6),  std::tuple(240, 784, 10),  std::tuple(240, 196, 10),
        std::tuple(480, 196, 20), std::tuple(672, 196, 28),  std::tuple(672, 49, 28),
        std::tuple(1152, 49, 48), std::tuple(2048, 49, 128), std::tuple(256, 3136, 16),
        std::tuple(8, 1, 1),      std::tuple(24, 35, 1),     std::tuple(8, 1000003, 512),
        std::tuple(8192, 1, 512), std::tuple(8192, 100, 1),  std::tuple(8184, 7, 32),
        std::tuple(4104, 1, 3),   std::tuple(72, 2, 5)})
    result.push_back(sized(batch, channels, pixels, hidden));
  return result;
}

DeviceProperties with_memory(int bytes) {
  DeviceProperties device;
  device.shared_memory = bytes;
  return device;
}

/// Shared memory of the largest and the smallest device with clusters.
constexpr int kMemories[] = {232448, 101376};

void expect_sound(const SqueezeExcite& size, const SqueezeExcitePlan& plan, const DeviceProperties& device) {
  const int64_t runs = size.channels / 8;
  ASSERT_GT(plan.threads, 0);
  EXPECT_LE(plan.threads, 512);
  EXPECT_EQ(plan.threads % 32, 0);
  // Every part has something, and together they have all.
  EXPECT_LT(int64_t{plan.pixel_parts - 1} * plan.part_pixels, size.pixels);
  EXPECT_GE(int64_t{plan.pixel_parts} * plan.part_pixels, size.pixels);
  EXPECT_LT(int64_t{plan.channel_parts - 1} * plan.part_runs, runs);
  EXPECT_GE(int64_t{plan.channel_parts} * plan.part_runs, runs);
  EXPECT_LE(plan.rows * plan.part_runs, plan.threads);
  EXPECT_GE(int64_t{plan.rows} * plan.rounds, plan.part_pixels);
  EXPECT_LE(plan.kept_rounds, plan.rounds);
  for (const int lanes : {plan.sum_lanes, plan.squeeze_lanes, plan.gate_lanes}) {
    EXPECT_TRUE(lanes >= 1 && lanes <= 32 && (lanes & (lanes - 1)) == 0) << lanes;
  }
  // Nothing lies on anything else.
  const int channels = plan.part_runs * 8;
  const int hidden = static_cast<int>(size.hidden);
  const auto hidden_pitch = static_cast<int>(size.hidden_pitch());
  EXPECT_GE(plan.w2_at, plan.keeps_weights ? hidden * channels * 2 : 0);
  EXPECT_GE(plan.b1_at, plan.w2_at + (plan.keeps_weights ? channels * hidden_pitch * 2 : 0));
  EXPECT_GE(plan.b2_at, plan.b1_at + hidden * 4);
  EXPECT_GE(plan.sums_at, plan.b2_at + channels * 4);
  EXPECT_GE(plan.sum_pitch, channels);
  EXPECT_GE(plan.totals_at, plan.sums_at + plan.rows * plan.sum_pitch * 4);
  EXPECT_GE(plan.received_at, plan.totals_at + channels * 4);
  EXPECT_GE(plan.hidden_at, plan.received_at + plan.blocks() * hidden * 4);
  EXPECT_GE(plan.gates_at, plan.hidden_at + hidden_pitch * 4);
  EXPECT_GE(plan.x_at, plan.gates_at + channels * 4);
  EXPECT_EQ(plan.holds, plan.rounds <= SqueezeExcitePlan::kMostHeld);
  const int kept_rounds = plan.holds ? 0 : plan.kept_rounds;
  EXPECT_GE(plan.shared_bytes, plan.x_at + kept_rounds * plan.rows * plan.part_runs * 16);
  EXPECT_LE(plan.shared_bytes, device.shared_memory);
  for (const int at : {plan.w2_at, plan.b1_at, plan.b2_at, plan.sums_at, plan.totals_at, plan.received_at,
                       plan.hidden_at, plan.gates_at, plan.x_at, plan.sum_pitch * 4})
    EXPECT_EQ(at % 16, 0);
}

TEST(SqueezeExcite, SharesEveryImageThatItTakes) {
  for (const int memory : kMemories) {
    const DeviceProperties device = with_memory(memory);
    for (const int64_t batch : {1, 16, 17, 128}) {
      for (const SqueezeExcite& size : sizes(batch)) {
        ASSERT_EQ(squeeze_excite_refusal(size, device).text(), "");
        for (const int most : {16, 8, 4, 2}) {
          SCOPED_TRACE(std::to_string(memory) + " bytes, " + std::to_string(batch) + " x " +
                       std::to_string(size.channels) + " x " + std::to_string(size.pixels) + ", " +
                       std::to_string(size.hidden) + ", at most " + std::to_string(most));
          const SqueezeExcitePlan plan = squeeze_excite_plan(size, most, device);
          EXPECT_LE(plan.blocks(), most);
          expect_sound(size, plan, device);
        }
      }
    }
  }
}

/// The limits that the pass knows, all at once.
TEST(SqueezeExcite, SharesImagesOfAnyNumberOfChannels) {
  for (const int memory : kMemories) {
    const DeviceProperties device = with_memory(memory);
    for (int64_t channels = 8; channels <= SqueezeExcite::kMostChannels; channels += 8) {
      for (const int64_t hidden : {int64_t{1}, SqueezeExcite::kMostHidden}) {
        const SqueezeExcite size = sized(1, channels, 49, hidden);
        expect_sound(size, squeeze_excite_plan(size, 2, device), device);
        if (HasFatalFailure()) FAIL() << channels << " channels, " << hidden << " between";
      }
    }
  }
}

TEST(SqueezeExcite, KeepsTheImagesOfEfficientNet) {
  const DeviceProperties device;
  const std::vector<SqueezeExcite> all = sizes(1);
  for (size_t i = 0; i < 10; ++i) {
    const SqueezeExcitePlan plan = squeeze_excite_plan(all[i], 8, device);
    EXPECT_EQ(plan.blocks(), 8) << i;
    EXPECT_EQ(plan.kept_rounds, plan.rounds) << i;
    EXPECT_TRUE(plan.keeps_weights) << i;
  }
}

TEST(SqueezeExcite, PartsPixelsOfLargeImagesAndChannelsOfDeepOnes) {
  const DeviceProperties device;
  const SqueezeExcitePlan large = squeeze_excite_plan(sized(1, 32, 12544, 8), 8, device);
  EXPECT_EQ(large.pixel_parts, 8);
  const SqueezeExcitePlan deep = squeeze_excite_plan(sized(1, 1152, 49, 48), 8, device);
  EXPECT_EQ(deep.channel_parts, 8);
}

TEST(SqueezeExcite, LetsTwoBlocksShareAMultiprocessorWhereThereAreMoreThanMultiprocessors) {
  const DeviceProperties device;
  const SqueezeExcite few = sized(16, 144, 3136, 6);
  const SqueezeExcite many = sized(17, 144, 3136, 6);
  EXPECT_GT(squeeze_excite_plan(few, 8, device).shared_bytes, device.shared_memory / 2);
  EXPECT_LE(2 * (squeeze_excite_plan(many, 8, device).shared_bytes + 1024), device.shared_memory + 1024);
}

TEST(SqueezeExcite, SaysWhyItRefuses) {
  const DeviceProperties device;
  DeviceProperties old;
  old.clusters = false;
  EXPECT_EQ(squeeze_excite_refusal(sized(1, 8, 1, 1), old).text(), "it needs compute capability 9.0");
  EXPECT_EQ(squeeze_excite_refusal(sized(1, 12, 1, 1), device).text(),
            "12 channels, no multiple of 8 up to 8192");
  EXPECT_EQ(squeeze_excite_refusal(sized(1, 8200, 1, 1), device).text(),
            "8200 channels, no multiple of 8 up to 8192");
  EXPECT_EQ(squeeze_excite_refusal(sized(1, 8, 1, 513), device).text(), "513 channels between, not 1 to 512");
  EXPECT_EQ(squeeze_excite_refusal(sized(1, 8, 0, 1), device).text(), "an empty or a huge image");
  EXPECT_EQ(squeeze_excite_refusal(sized(SqueezeExcite::kMostImages + 1, 8, 1, 1), device).text(),
            "an empty or a huge image");
  EXPECT_EQ(squeeze_excite_refusal(sized(0, 8, 1, 1), device).text(), "");
}

}  // namespace
}  // namespace hone::device::cuda
