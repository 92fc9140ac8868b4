// The layout of a stem's padded image: it is a convolution that the kernels take, of the same outputs, and
// its weights have a place each.
#include "device/cuda/regions/stem/plugin/kernels/stem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "device/cuda/regions/stem/plugin/kernels/stem_gemm.hpp"

namespace hone::device::cuda {
namespace {

ConvProblem stem(int size, int channels, int kernel, int stride, int pad) {
  ConvProblem p;
  p.batch = 2;
  p.height = p.width = size;
  p.channels = channels;
  p.filters = 64;
  p.kernel_h = p.kernel_w = kernel;
  p.stride_h = p.stride_w = stride;
  p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = pad;
  return p;
}

/// ResNet, MobileNet and VGG, AlexNet, and odd ones.
std::vector<ConvProblem> stems() {
  ConvProblem uneven = stem(33, 3, 3, 2, 0);
  uneven.pad_bottom = uneven.pad_right = 1;
  return {stem(224, 3, 7, 2, 3),  stem(224, 3, 3, 2, 1), stem(224, 3, 3, 1, 1),
          stem(224, 3, 11, 4, 2), stem(32, 1, 5, 1, 2),  stem(31, 4, 2, 2, 0),
          stem(29, 8, 3, 3, 1),   stem(9, 5, 1, 1, 0),   uneven};
}

TEST(StemNext, PlacesOfFiltersAreAPermutation) {
  std::set<size_t> places;
  for (int64_t filter = 0; filter < StemNext::kChannels; ++filter) {
    for (int64_t channel = 0; channel < StemNext::kChannels; ++channel)
      places.insert(StemNext::next_index(filter, channel));
  }
  EXPECT_EQ(places.size(), static_cast<size_t>(StemNext::kChannels * StemNext::kChannels));
  EXPECT_EQ(*places.rbegin(), places.size() - 1);
}

TEST(StemLayout, IsAConvolutionWithTheSameOutputs) {
  for (const ConvProblem& p : stems()) {
    SCOPED_TRACE("channels " + std::to_string(p.channels) + ", kernel " + std::to_string(p.kernel_w));
    const auto layout = stem_layout(p);
    ASSERT_TRUE(layout);
    EXPECT_EQ(conv_refusal(layout->problem).text(), "");
    EXPECT_EQ(layout->problem.out_height(), p.out_height());
    EXPECT_EQ(layout->problem.out_width(), p.out_width());
    EXPECT_EQ(layout->problem.filters, p.filters);
    EXPECT_EQ(layout->problem.batch, p.batch);
    EXPECT_EQ(layout->image_channels, p.channels);
    EXPECT_TRUE(layout->pixel_channels == 4 || layout->pixel_channels == 8);
    EXPECT_GE(layout->pixel_channels, p.channels);
    EXPECT_GE(layout->taps, p.kernel_w);
  }
}

TEST(StemLayout, OfMoreImagesThanAGridHasRowsIsNone) {
  ConvProblem p = stems().front();
  p.height = p.width = 32;
  p.batch = kMostStemRows;
  EXPECT_TRUE(stem_layout(p));
  p.batch = kMostStemRows + 1;
  EXPECT_FALSE(stem_layout(p));
}

TEST(StemLayout, EveryWindowLiesInsideThePaddedImage) {
  for (const ConvProblem& p : stems()) {
    const auto layout = stem_layout(p);
    ASSERT_TRUE(layout);
    EXPECT_GE(layout->padded_width, (p.out_width() - 1) * p.stride_w + layout->taps);
    EXPECT_GE(layout->padded_height, (p.out_height() - 1) * p.stride_h + p.kernel_h);
    // Rows, and windows within a row, start at multiples of 16 bytes.
    EXPECT_EQ(layout->padded_width * layout->pixel_channels % 8, 0);
    EXPECT_EQ(p.stride_w * layout->pixel_channels % 8, 0);
    EXPECT_EQ(layout->image_elements(), static_cast<size_t>(p.batch) * layout->padded_height *
                                            layout->padded_width * layout->pixel_channels);
  }
}

TEST(StemLayout, EveryWeightHasAPlaceOfItsOwn) {
  for (const ConvProblem& p : stems()) {
    const auto layout = stem_layout(p);
    ASSERT_TRUE(layout);
    for (const StemOrder order : {StemOrder::kWindows, StemOrder::kRuns, StemOrder::kFragments}) {
      std::set<size_t> places;
      for (int k = 0; k < p.filters; ++k) {
        for (int r = 0; r < p.kernel_h; ++r) {
          for (int s = 0; s < p.kernel_w; ++s) {
            for (int c = 0; c < p.channels; ++c) {
              const size_t place = layout->weight_index(order, k, r, s, c);
              EXPECT_LT(place, layout->weight_elements());
              EXPECT_TRUE(places.insert(place).second);
            }
          }
        }
      }
      EXPECT_EQ(places.size(), static_cast<size_t>(p.filters) * p.kernel_h * p.kernel_w * p.channels);
    }
    EXPECT_EQ(layout->weight_elements(), static_cast<size_t>(p.filters) * layout->problem.depth());
  }
}

TEST(StemLayout, RunsOfNeighbouringFiltersLieSideBySide) {
  const auto layout = stem_layout(stem(224, 3, 7, 2, 3));  // 64 filters of 7 rows of 8 taps of 4 channels
  const auto place = [&](int k, int r, int s, int c) {
    return layout->weight_index(StemOrder::kRuns, k, r, s, c);
  };
  EXPECT_EQ(place(0, 0, 1, 2), 6u);
  EXPECT_EQ(place(1, 0, 0, 0), 8u);
  EXPECT_EQ(place(0, 0, 2, 0), 64u * 8);
  EXPECT_EQ(place(63, 6, 6, 2), (27u * 64 + 63) * 8 + 2);
}

TEST(StemLayout, FragmentsAreThoseOfAThread) {
  ConvProblem p = stem(224, 3, 7, 2, 3);  // 14 steps of the depth
  p.filters = 128;
  const auto layout = stem_layout(p);
  const auto place = [&](int k, int r, int s, int c) {
    return layout->weight_index(StemOrder::kFragments, k, r, s, c);
  };
  // Thread 0: filters 0 and 8 of a warp, the first two of each eight of the depth.
  EXPECT_EQ(place(0, 0, 0, 0), 0u);
  EXPECT_EQ(place(0, 0, 0, 1), 1u);
  EXPECT_EQ(place(8, 0, 0, 0), 2u);
  EXPECT_EQ(place(0, 0, 2, 0), 4u);
  EXPECT_EQ(place(8, 0, 2, 1), 7u);
  EXPECT_EQ(place(0, 0, 0, 2), 8u);              // thread 1
  EXPECT_EQ(place(1, 0, 0, 0), 4u * 8);          // thread 4
  EXPECT_EQ(place(16, 0, 0, 0), 32u * 8);        // the next warp
  EXPECT_EQ(place(0, 0, 4, 0), 128u * 8);        // the next step
  EXPECT_EQ(place(64, 0, 0, 0), 14u * 128 * 8);  // the next filters
}

TEST(StemLayout, OrdersForWarpgroupsDoNotStandForTheConstant) {
  const auto layout = stem_layout(stem(224, 3, 7, 2, 3));
  EXPECT_EQ(layout->form(StemOrder::kWindows), "stem8x4");
  EXPECT_EQ(layout->form(StemOrder::kRuns), "!stem-runs8x4");
  EXPECT_EQ(layout->form(StemOrder::kFragments), "!stem-fragments8x4");
}

TEST(StemLayout, FourChannelsAPixelWhereWindowsStartAtSixteenBytes) {
  EXPECT_EQ(stem_layout(stem(224, 3, 7, 2, 3))->pixel_channels, 4);
  EXPECT_EQ(stem_layout(stem(224, 3, 7, 2, 3))->taps, 8);
  EXPECT_EQ(stem_layout(stem(224, 3, 3, 1, 1))->pixel_channels, 8);
  // Rows of 32 bytes: 4 taps of 8 channels, 4 and 12 of 4.
  EXPECT_EQ(stem_layout(stem(224, 3, 3, 1, 1))->taps, 4);
  EXPECT_EQ(stem_layout(stem(224, 3, 3, 2, 1))->taps, 4);
  EXPECT_EQ(stem_layout(stem(224, 3, 11, 4, 2))->taps, 12);
  EXPECT_EQ(stem_layout(stem(224, 5, 3, 2, 1))->pixel_channels, 8);
}

TEST(StemLayout, OtherConvolutionsHaveNone) {
  const auto refused = [](auto change) {
    ConvProblem p = stem(224, 3, 7, 2, 3);
    change(p);
    return !stem_layout(p).has_value();
  };
  EXPECT_FALSE(refused([](ConvProblem&) {}));
  EXPECT_TRUE(refused([](ConvProblem& p) { p.channels = 9; }));
  EXPECT_TRUE(refused([](ConvProblem& p) { p.channels = 0; }));
  EXPECT_TRUE(refused([](ConvProblem& p) { p.filters = 60; }));
  EXPECT_TRUE(refused([](ConvProblem& p) { p.dilation_w = 2; }));
  EXPECT_TRUE(refused([](ConvProblem& p) { p.pad_left = -1; }));
  EXPECT_TRUE(refused([](ConvProblem& p) { p.pad_top = -1; }));
  EXPECT_TRUE(refused([](ConvProblem& p) { p.pixel_pitch = 8; }));
  EXPECT_TRUE(refused([](ConvProblem& p) { p.kernel_h = 300; }));
  EXPECT_TRUE(refused([](ConvProblem& p) { p.height = 0; }));
}

std::vector<std::string> config_texts(const StemLayout& layout, const DeviceProperties& device = {}) {
  std::vector<std::string> texts;
  for (const StemConfig& config : stem_configs(layout, device)) texts.push_back(config.text());
  return texts;
}

TEST(StemConfigs, PoolByWarpgroupsAlone) {
  StemLayout layout = *stem_layout(stem(224, 3, 7, 2, 3));
  EXPECT_THAT(config_texts(layout), testing::Contains("128x64"));
  layout.pool = StemPool{1, 1, 56, 56};
  EXPECT_THAT(config_texts(layout), testing::ElementsAre("p240x64", "p144x64", "w256x64", "w256x32"));
  DeviceProperties other;
  other.warpgroups = false;
  EXPECT_THAT(config_texts(layout, other), testing::IsEmpty());
  EXPECT_EQ(stem_refusal(layout, StemConfig{128, 64}, {}).text(), "it does not pool");
}

TEST(StemConfigs, PoolInRegistersWindowsOfSevenRowsAlone) {
  const auto refusal = [](ConvProblem p, const char* config, bool pools = true) {
    StemLayout layout = *stem_layout(p);
    if (pools) layout.pool = StemPool{1, 1, 8, 8};
    return stem_refusal(layout, StemConfig::parse(config).value(), {}).text();
  };
  const ConvProblem good = stem(224, 3, 7, 2, 3);
  EXPECT_EQ(refusal(good, "p240x64"), "");
  EXPECT_EQ(refusal(good, "p144x64"), "");
  EXPECT_EQ(refusal(good, "p256x64"), "no kernel has the tile of p256x64");
  EXPECT_EQ(refusal(good, "p240x32"), "no kernel has the tile of p240x32");
  EXPECT_EQ(refusal(good, "p240x64", false), "it is for stems with a pool");
  EXPECT_EQ(refusal(stem(224, 3, 3, 2, 1), "p240x64"),
            "its windows are not of seven rows of five to eight pixels of four channels at most");
  EXPECT_EQ(refusal(stem(224, 5, 7, 2, 3), "p240x64"),
            "its windows are not of seven rows of five to eight pixels of four channels at most");
  ConvProblem few = good;
  few.filters = 96;
  EXPECT_EQ(refusal(few, "p240x64"), "its filters are no multiple of 64");
  EXPECT_EQ(refusal(stem(221, 3, 7, 2, 3), "p240x64"), "rows of its image do not start 16 bytes apart");
}

TEST(StemConfigs, AreReadAsTheyAreWritten) {
  for (const char* const text : {"128x64", "w256x32", "p240x64"}) {
    const auto config = StemConfig::parse(text);
    ASSERT_TRUE(config);
    EXPECT_EQ(config->text(), text);
  }
  for (const char* const text : {"", "p", "x240x64", "p240x64x", "p0240x64"})
    EXPECT_FALSE(StemConfig::parse(text)) << text;
}

TEST(StemConfigs, WarpgroupsNeedRowsThatTheCopyUnitCanRead) {
  EXPECT_THAT(config_texts(*stem_layout(stem(224, 3, 7, 2, 3))), testing::Contains("w256x64"));
  const StemLayout odd = *stem_layout(stem(221, 3, 7, 2, 3));
  EXPECT_THAT(config_texts(odd), testing::Not(testing::Contains("w256x64")));
  EXPECT_EQ(stem_refusal(odd, StemConfig{256, 64, StemWay::kWarpgroups}, {}).text(),
            "rows of its image do not start 16 bytes apart");
}

TEST(StemConfigs, WarpgroupsRefuseAPatchThatTheCopyUnitDoesNotTake) {
  ConvProblem tall = stem(64, 1, 3, 1, 1);
  tall.height = 1024;
  tall.kernel_h = 17;
  tall.stride_h = 16;
  EXPECT_EQ(stem_refusal(*stem_layout(tall), StemConfig{256, 32, StemWay::kWarpgroups}, {}).text(),
            "its patch is larger than the copy unit takes");
}

}  // namespace
}  // namespace hone::device::cuda
