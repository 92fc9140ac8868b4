// Refusals of the bottleneck's kernel; the rest of it needs a GPU.
#include <gtest/gtest.h>

#include <vector>

#include "device/cuda/regions/bottleneck/plugin/kernels/cluster_bottleneck.hpp"
#include "device/cuda/regions/bottleneck/plugin/kernels/pipelined_bottleneck.hpp"

namespace hone::device::cuda {
namespace {

Bottleneck sized(int64_t batch, int64_t height, int64_t width, int64_t next, bool projects = false) {
  return {.batch = batch, .height = height, .width = width, .next = next, .projects = projects};
}

TEST(Bottleneck, TakesTheNextChannelsThatFitIntoSharedMemory) {
  const DeviceProperties device;
  EXPECT_EQ(bottleneck_refusal(sized(1, 56, 56, 64), device).text(), "");
  EXPECT_EQ(bottleneck_refusal(sized(1, 56, 56, 128), device).text(), "");
  EXPECT_EQ(bottleneck_refusal(sized(1, 56, 56, 64, true), device).text(), "");
  EXPECT_NE(bottleneck_refusal(sized(1, 56, 56, 128, true), device).text(), "");
  EXPECT_NE(bottleneck_refusal(sized(1, 56, 56, 96), device).text(), "");
  EXPECT_NE(bottleneck_refusal(sized(1, 56, 56, 0), device).text(), "");
}

TEST(Bottleneck, RefusesDevicesWithoutProductsOfWarpgroups) {
  DeviceProperties device;
  device.warpgroups = false;
  EXPECT_NE(bottleneck_refusal(sized(1, 56, 56, 64), device).text(), "");
}

TEST(Bottleneck, MakesSomePixelsOfARowATile) {
  EXPECT_EQ(sized(2, 3, 1, 64).tiles(), 6);
  EXPECT_EQ(sized(2, 3, 64, 64).tiles(), 6);
  EXPECT_EQ(sized(2, 3, 65, 64).tiles(), 12);
  EXPECT_EQ(sized(0, 3, 65, 64).tiles(), 0);
  EXPECT_EQ(bottleneck_refusal(sized(0, 3, 65, 64), {}).text(), "");
  EXPECT_NE(bottleneck_refusal(sized(1, 0, 65, 64), {}).text(), "");
  EXPECT_NE(bottleneck_refusal(sized(int64_t{1} << 30, 3, 65, 64), {}).text(), "");
}

TEST(PipelinedBottleneck, TakesWhatTheOtherTakesOf64Channels) {
  EXPECT_EQ(pipelined_bottleneck_refusal(sized(1, 56, 56, 64), {}).text(), "");
  EXPECT_EQ(pipelined_bottleneck_refusal(sized(1, 56, 56, 128), {}).text(), "");
  EXPECT_EQ(pipelined_bottleneck_refusal(sized(1, 56, 56, 64, true), {}).text(), "");
  EXPECT_NE(pipelined_bottleneck_refusal(sized(1, 56, 56, 128, true), {}).text(), "");
  Bottleneck wider = sized(1, 28, 28, 128);
  wider.channels = 128;
  EXPECT_EQ(pipelined_bottleneck_refusal(wider, {}).text(), "128 channels, not 64");
  DeviceProperties device;
  device.warpgroups = false;
  EXPECT_NE(pipelined_bottleneck_refusal(sized(1, 56, 56, 64), device).text(), "");
  // As many tiles as may be by 64 pixels, but not by 56.
  EXPECT_EQ(bottleneck_refusal(sized(int64_t{1} << 24, 64, 64, 64), {}).text(), "");
  EXPECT_EQ(pipelined_bottleneck_refusal(sized(int64_t{1} << 24, 64, 64, 64), {}).text(),
            "the image is too large");
}

TEST(PipelinedBottleneck, MakesAtMost56PixelsOfARowATile) {
  EXPECT_EQ(PipelinedBottleneck::tiles(sized(2, 3, 1, 64)), 6);
  EXPECT_EQ(PipelinedBottleneck::tiles(sized(2, 3, 56, 64)), 6);
  EXPECT_EQ(PipelinedBottleneck::tiles(sized(2, 3, 57, 64)), 12);
}

TEST(PipelinedBottleneck, PlacesOfWeightsAreAPermutation) {
  std::vector<int> window(size_t{64} * 9 * 64);
  std::vector<int> expand(size_t{256} * 64);
  std::vector<int> next(size_t{64} * 256);
  for (int64_t k = 0; k < 256; ++k) {
    for (int64_t c = 0; c < 64; ++c) {
      ++expand.at(PipelinedBottleneck::expand_index(k, c));
      ++next.at(PipelinedBottleneck::next_index(c, k));
      for (int64_t tap = 0; k < 64 && tap < 9; ++tap)
        ++window.at(PipelinedBottleneck::window_index(k, tap, c));
    }
  }
  for (const auto& places : {window, expand, next}) EXPECT_EQ(places, std::vector<int>(places.size(), 1));
}

Bottleneck clustered(int64_t channels, int64_t height, int64_t width) {
  Bottleneck size = sized(1, height, width, channels);
  size.channels = channels;
  return size;
}

TEST(ClusterBottleneck, TakesRowsWhoseWindowsFitIntoSharedMemory) {
  EXPECT_EQ(bottleneck_refusal(clustered(128, 28, 28), {}).text(), "");
  EXPECT_EQ(bottleneck_refusal(clustered(128, 28, 32), {}).text(), "");
  EXPECT_EQ(bottleneck_refusal(clustered(128, 1, 1), {}).text(), "");
  EXPECT_EQ(bottleneck_refusal(clustered(256, 14, 17), {}).text(), "");
  EXPECT_EQ(bottleneck_refusal(clustered(128, 28, 33), {}).text(), "rows of 33 pixels do not fit");
  EXPECT_EQ(bottleneck_refusal(clustered(256, 14, 18), {}).text(), "rows of 18 pixels do not fit");
  EXPECT_NE(bottleneck_refusal(clustered(128, 0, 28), {}).text(), "");
  Bottleneck alone = clustered(256, 14, 14);
  alone.next = 0;
  EXPECT_EQ(bottleneck_refusal(alone, {}).text(), "");
}

TEST(ClusterBottleneck, RefusesOtherChannelsAndProjections) {
  EXPECT_NE(bottleneck_refusal(clustered(192, 28, 28), {}).text(), "");
  Bottleneck size = clustered(128, 28, 28);
  size.next = 256;
  EXPECT_NE(bottleneck_refusal(size, {}).text(), "");
  size = clustered(128, 28, 28);
  size.projects = true;
  EXPECT_NE(bottleneck_refusal(size, {}).text(), "");
  DeviceProperties device;
  device.clusters = false;
  EXPECT_NE(bottleneck_refusal(clustered(128, 28, 28), device).text(), "");
}

TEST(ClusterBottleneck, MakesAsManyRowsATileAsFit) {
  EXPECT_EQ(ClusterBottleneck::tiles(clustered(128, 28, 28)), 28);
  EXPECT_EQ(ClusterBottleneck::tiles(clustered(256, 14, 14)), 7);
  EXPECT_EQ(ClusterBottleneck::tiles(clustered(256, 13, 14)), 7);
  EXPECT_EQ(ClusterBottleneck::tiles(clustered(128, 7, 7)), 3);
}

/// Each weight has a place of its own, and a block's lie together.
TEST(ClusterBottleneck, PlacesOfWeightsAreAPermutation) {
  for (const int64_t channels : {128, 256}) {
    const int64_t wide = 4 * channels;
    const int64_t blocks = ClusterBottleneck::cluster(channels);
    std::vector<int> window(static_cast<size_t>(9 * channels * channels));
    std::vector<int> expand(static_cast<size_t>(wide * channels));
    std::vector<int> next(static_cast<size_t>(wide * channels));
    const auto of_block = [&](size_t at, const std::vector<int>& all) {
      return static_cast<int64_t>(at) / (static_cast<int64_t>(all.size()) / blocks);
    };
    for (int64_t k = 0; k < channels; ++k) {
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t tap = 0; tap < 9; ++tap) {
          const size_t at = ClusterBottleneck::window_index(channels, k, tap, c);
          ++window.at(at);
          EXPECT_EQ(of_block(at, window), k / 64 * (channels / 64) + c / 64);
        }
      }
    }
    for (int64_t w = 0; w < wide; ++w) {
      for (int64_t c = 0; c < channels; ++c) {
        const size_t expand_at = ClusterBottleneck::expand_index(channels, w, c);
        const size_t next_at = ClusterBottleneck::next_index(channels, c, w);
        ++expand.at(expand_at);
        ++next.at(next_at);
        EXPECT_EQ(of_block(expand_at, expand), w / (wide / blocks));
        EXPECT_EQ(of_block(next_at, next), w / (wide / blocks));
      }
    }
    for (const auto& places : {window, expand, next}) EXPECT_EQ(places, std::vector<int>(places.size(), 1));
  }
}

}  // namespace
}  // namespace hone::device::cuda
