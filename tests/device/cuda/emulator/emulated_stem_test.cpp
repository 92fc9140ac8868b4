// Stems by warpgroups on the emulator, with and without their pool.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "device/cuda/conv_problems.hpp"
#include "device/cuda/emulator/emulated_kernels.hpp"
#include "device/cuda/regions/stem/plugin/kernels/stem_gemm.hpp"

namespace hone::device::cuda::emulated {
namespace {

/// A network's first convolution: the image as float planes, the weights as the kernel wants them.
class StemCase {
 public:
  /// Floats of the planes with a value of their own, which expect() does not know of.
  using Special = std::vector<std::pair<size_t, float>>;

  StemCase(const ConvProblem& problem, const Steps& steps, const Special& special = {})
      : stem_(problem, steps),
        layout_(stem_layout(problem).value()),
        planes_(Element::kFloat, planes_of(stem_, special)),
        runs_(problem.element, packed(stem_, layout_, StemOrder::kRuns)),
        fragments_(problem.element, problem.filters % 64 == 0 ? packed(stem_, layout_, StemOrder::kFragments)
                                                              : std::vector<float>()) {}

  void expect(const char* config, const std::vector<Schedule>& schedules) {
    layout_.pool.reset();
    expect_result(config, schedules, result_extents(stem_.problem()), stem_.expected());
  }

  /// With a pool of as many outputs as fit, or with ceil_mode where nothing is padded.
  void expect_pooled(const char* config, int pad_top, int pad_left, const std::vector<Schedule>& schedules) {
    SCOPED_TRACE("padded by " + std::to_string(pad_top) + " and " + std::to_string(pad_left));
    const ConvProblem& p = stem_.problem();
    const auto outputs = [](int size, int pad) { return (size + 2 * pad - 3 + (pad == 0 ? 1 : 0)) / 2 + 1; };
    layout_.pool =
        StemPool{pad_top, pad_left, outputs(p.out_height(), pad_top), outputs(p.out_width(), pad_left)};
    expect_result(config, schedules, {p.batch, layout_.pool->out_height, layout_.pool->out_width, p.filters},
                  pooled(stem_.expected()));
  }

  /// With a pool that is padded by 1, and a convolution of random filters behind it.
  void expect_next(const char* config, const StreamEpilogue& bounds, bool has_bias,
                   const std::vector<Schedule>& schedules) {
    const ConvProblem& p = stem_.problem();
    SCOPED_TRACE(std::string(config) + ", " + std::to_string(p.height) + " x " + std::to_string(p.width));
    constexpr int kChannels = StemNext::kChannels;
    layout_.pool = StemPool{1, 1, (p.out_height() - 1) / 2 + 1, (p.out_width() - 1) / 2 + 1};
    const Extents extents = {p.batch, layout_.pool->out_height, layout_.pool->out_width, kChannels};
    const std::vector<double> made = pooled(stem_.expected());
    const Tensor filters(p.element, kChannels * kChannels, 1, 21, 8);
    const Tensor bias(Element::kFloat, kChannels, 3, 22);
    std::vector<float> packed(filters.values.size());
    for (int i = 0; i < kChannels * kChannels; ++i)
      packed[StemNext::next_index(i / kChannels, i % kChannels)] = filters.values[i];
    const Tensor packed_filters(p.element, packed);
    std::vector<double> expected;
    for (size_t i = 0; i < made.size(); ++i) {
      const size_t filter = i % kChannels;
      double sum = has_bias ? bias.values[filter] : 0;
      for (size_t c = 0; c < kChannels; ++c)
        sum += rounded(p.element, made[i - filter + c]) * filters.values[filter * kChannels + c];
      expected.push_back(std::clamp<double>(rounded(p.element, sum), bounds.low, bounds.high));
    }
    for (const Schedule& schedule : schedules) {
      SCOPED_TRACE(text(schedule));
      Output y(p.element, extents);
      Output behind(p.element, extents);
      expect_launch(schedule, [&] {
        emulator::busy_ahead(nullptr, 0);
        behind.be_busy();
        ConvArgs args = stem_.args(y);
        args.x = planes_.get();
        args.w = fragments_.get();
        planes_.be_busy();
        const StemNext next{packed_filters.get(), has_bias ? bias.floats() : nullptr, behind.get(), bounds};
        return launch_stem_and_next(layout_, StemConfig::parse(config).value(), args, next,
                                    {.device = &emulator::properties(), .pdl = true});
      });
      EXPECT_TRUE(y.holds(made)) << "pooled";
      EXPECT_TRUE(behind.holds(expected)) << "behind the pool";
    }
  }

  /// The result with a pool that is padded by 1.
  std::vector<double> pooled_by(const char* config) {
    const ConvProblem& p = stem_.problem();
    layout_.pool = StemPool{1, 1, (p.out_height() - 1) / 2 + 1, (p.out_width() - 1) / 2 + 1};
    const Extents extents = {p.batch, layout_.pool->out_height, layout_.pool->out_width, p.filters};
    Output y(p.element, extents);
    expect_launch(kFewSchedules.front(), [&] { return launch(config, y); });
    std::vector<double> values;
    for (size_t i = 0; i < static_cast<size_t>(extents[0] * extents[1] * extents[2] * extents[3]); ++i)
      values.push_back(y.value(i));
    return values;
  }

  cudaError_t launch(const char* config, Output& y) const {
    ConvArgs args = stem_.args(y);
    args.x = planes_.get();
    const StemConfig way = StemConfig::parse(config).value();
    args.w = way.order() == StemOrder::kRuns ? runs_.get() : fragments_.get();
    planes_.be_busy();
    return launch_stem(layout_, way, args, {.device = &emulator::properties(), .pdl = true});
  }

 private:
  static std::vector<float> planes_of(const ConvCase& stem, const Special& special) {
    const ConvProblem& p = stem.problem();
    const size_t plane = static_cast<size_t>(p.height) * p.width;
    std::vector<float> planes(stem.x().values.size());
    for (size_t i = 0; i < planes.size(); ++i) {
      const size_t pixel = i / p.channels;
      planes[(pixel / plane * p.channels + i % p.channels) * plane + pixel % plane] = stem.x().values[i];
    }
    for (const auto& [at, value] : special) planes[at] = value;
    return planes;
  }

  static std::vector<float> packed(const ConvCase& stem, const StemLayout& layout, StemOrder order) {
    const ConvProblem& p = stem.problem();
    std::vector<float> result(layout.weight_elements());
    size_t next = 0;
    for (int k = 0; k < p.filters; ++k) {
      for (int r = 0; r < p.kernel_h; ++r) {
        for (int s = 0; s < p.kernel_w; ++s) {
          for (int c = 0; c < p.channels; ++c)
            result[layout.weight_index(order, k, r, s, c)] = stem.w().values[next++];
        }
      }
    }
    return result;
  }

  std::vector<double> pooled(const std::vector<double>& values) const {
    const ConvProblem& p = stem_.problem();
    const StemPool& pool = *layout_.pool;
    std::vector<double> result;
    for (int row = 0; row < p.batch * pool.out_height; ++row) {
      const int image = row / pool.out_height;
      const int top = row % pool.out_height * 2 - pool.pad_top;
      for (int column = 0; column < pool.out_width; ++column) {
        const int left = column * 2 - pool.pad_left;
        for (int k = 0; k < p.filters; ++k) {
          double most = -INFINITY;
          for (int y = std::max(top, 0); y < std::min(top + 3, p.out_height()); ++y) {
            for (int x = std::max(left, 0); x < std::min(left + 3, p.out_width()); ++x) {
              const size_t pixel = (static_cast<size_t>(image) * p.out_height() + y) * p.out_width() + x;
              most = std::max(most, values[pixel * p.filters + k]);
            }
          }
          result.push_back(most);
        }
      }
    }
    return result;
  }

  void expect_result(const char* config, const std::vector<Schedule>& schedules, const Extents& extents,
                     const std::vector<double>& expected) const {
    const ConvProblem& p = stem_.problem();
    SCOPED_TRACE(std::string(config) + ", " + std::to_string(p.height) + " x " + std::to_string(p.width) +
                 " x " + std::to_string(p.channels) + " to " + std::to_string(p.filters));
    expect_output(schedules, p.element, extents, expected, stem_.roundings(),
                  [&](Output& y) { return launch(config, y); });
  }

  ConvCase stem_;
  StemLayout layout_;
  Tensor planes_;
  Tensor runs_;
  Tensor fragments_;  ///< empty where the filters do not fill them
};

/// ResNet's window over a small image of three channels; tiles are of 16 x 16 outputs.
ConvProblem image(Element element, int height, int width, int filters) {
  ConvProblem p = problem(1, 0, 3, filters, 7, 2);
  p.element = element;
  p.height = height;
  p.width = width;
  return p;
}

// One multiprocessor holds two blocks, which make several tiles.
TEST(EmulatedStem, BlocksMakeTileAfterTile) {
  emulator::set_multiprocessors(1);
  ConvProblem p = image(Element::kHalf, 36, 68, 64);
  p.batch = 2;
  StemCase(p, kRelu).expect("w256x64", kAllSchedules);
  StemCase(p, kClip).expect_pooled("w256x64", 1, 1, kAllSchedules);
  p.element = Element::kBFloat16;
  StemCase(p, kSwish).expect("w256x32", kFewSchedules);
}

TEST(EmulatedStem, FiltersBeyondATileAndBelow) {
  emulator::set_multiprocessors(2);
  for (const Element element : {Element::kHalf, Element::kBFloat16}) {
    for (const auto& [config, filters] : {std::pair("w256x64", 72), std::pair("w256x64", 40),
                                          std::pair("w256x32", 72), std::pair("w256x32", 8)}) {
      StemCase test(image(element, 20, 28, filters), kClip);
      test.expect(config, kFewSchedules);
      test.expect_pooled(config, 1, 1, kFewSchedules);
      for (const Steps& steps : {kSwish, kHardSwish})
        StemCase(image(element, 20, 28, filters), steps).expect(config, kFewSchedules);
    }
  }
}

TEST(EmulatedStem, PoolsOfEveryPadding) {
  emulator::set_multiprocessors(132);
  StemCase test(image(Element::kHalf, 34, 36, 32), {});
  for (const auto& [top, left] : {std::pair(0, 0), std::pair(0, 1), std::pair(1, 0), std::pair(1, 1)})
    test.expect_pooled("w256x32", top, left, kFewSchedules);
}

// Tiles above, within, below and beside the image; a few blocks make several tiles each, one after the other.
TEST(EmulatedStem, PoolsInRegisters) {
  for (const char* const config : {"p240x64", "p144x64"}) {
    emulator::set_multiprocessors(1);
    ConvProblem p = image(Element::kHalf, 68, 84, 64);
    p.batch = 2;
    StemCase(p, kRelu).expect_pooled(config, 1, 1, kAllSchedules);
    p.element = Element::kBFloat16;
    StemCase(p, kClip).expect_pooled(config, 0, 1, kFewSchedules);
    StemCase(p, {}).expect_pooled(config, 1, 0, kFewSchedules);
    emulator::set_multiprocessors(132);
    p = image(Element::kHalf, 36, 32, 128);
    p.channels = 4;
    p.kernel_w = 5;
    p.stride_h = 1;
    StemCase(p, {}).expect_pooled(config, 0, 0, kFewSchedules);
  }
}

// Blocks with two, three or some more tiles each, of one or two tiles of filters.
TEST(EmulatedStem, PoolsFewTilesABlockInTurns) {
  emulator::set_multiprocessors(1);
  for (const char* const config : {"p240x64", "p144x64"}) {
    for (const int height : {56, 84}) {
      StemCase(image(Element::kHalf, height, 84, 64), kRelu).expect_pooled(config, 1, 1, kFewSchedules);
      StemCase(image(Element::kHalf, height, 84, 128), kRelu).expect_pooled(config, 1, 1, kFewSchedules);
    }
  }
}

// Several tiles a block, partly outside of the image.
TEST(EmulatedStem, MultipliesWhatItHasPooled) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const char* const config : {"p240x64", "p144x64"}) {
    emulator::set_multiprocessors(1);
    ConvProblem p = image(Element::kHalf, 68, 84, 64);
    p.batch = 2;
    StemCase(p, kRelu).expect_next(config, {StreamKind::kBounds, 0, 0, kInfinity}, true, kAllSchedules);
    emulator::set_multiprocessors(132);
    StemCase(image(Element::kBFloat16, 36, 44, 64), kClip)
        .expect_next(config, {StreamKind::kBounds, 0, -20, 30}, false, kFewSchedules);
  }
}

// For an image with NaN and infinities, whatever a window's columns of zeros make of them.
TEST(EmulatedStem, PoolsInRegistersWhatTheOtherWayPools) {
  emulator::set_multiprocessors(132);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const ConvProblem p = image(Element::kHalf, 36, 44, 64);
  StemCase test(p, kRelu, {{100, NAN}, {1500, kInfinity}, {3000, -kInfinity}});
  const std::vector<double> expected = test.pooled_by("w256x64");
  EXPECT_TRUE(std::any_of(expected.begin(), expected.end(), [](double each) { return std::isnan(each); }));
  for (const char* const config : {"p240x64", "p144x64"})
    EXPECT_THAT(test.pooled_by(config), testing::Pointwise(testing::NanSensitiveDoubleEq(), expected));
}

std::vector<ConvProblem> windows() {
  // Pixels of four channels, two apart.
  std::vector<ConvProblem> result = {problem(1, 36, 3, 32, 3, 2), problem(2, 20, 4, 24, 5, 2),
                                     problem(1, 12, 1, 16, 2, 2)};
  ConvProblem uneven = problem(1, 20, 3, 32, 3, 2);
  uneven.pad_top = uneven.pad_left = 0;
  result.push_back(uneven);
  ConvProblem tall = problem(1, 20, 3, 40, 3, 2);
  tall.kernel_h = 5;
  tall.stride_h = 3;
  result.push_back(tall);
  // Pixels of eight, side by side.
  for (const int channels : {3, 5, 8}) result.push_back(problem(1, 20, channels, 32, 3));
  result.push_back(problem(1, 12, 6, 40, 1));
  return result;
}

TEST(EmulatedStem, WindowsOfAllKinds) {
  emulator::set_multiprocessors(132);
  Element element = Element::kHalf;
  for (ConvProblem p : windows()) {
    p.element = element;
    StemCase test(p, kClip);
    test.expect("w256x32", kFewSchedules);
    test.expect_pooled("w256x64", 1, 1, {{Pace::kAnyTime, Pace::kAnyTime, 5}});
    element = element == Element::kHalf ? Element::kBFloat16 : Element::kHalf;
  }
}

TEST(EmulatedStem, WhatNoKernelDoesIsRefused) {
  const auto launched = [](const ConvProblem& p, const char* config, const Steps& steps) {
    Output y(p.element, result_extents(p));
    return StemCase(p, steps).launch(config, y);
  };
  const ConvProblem good = image(Element::kHalf, 20, 20, 32);
  EXPECT_EQ(launched(good, "w128x32", {}), cudaErrorInvalidValue);
  EXPECT_EQ(launched(good, "w256x32", kAddRelu), cudaErrorInvalidValue);
  EXPECT_EQ(launched(good, "w256x32", kLeaky), cudaErrorInvalidValue);
  EXPECT_EQ(launched(image(Element::kHalf, 20, 22, 32), "w256x32", {}), cudaErrorInvalidValue);
  EXPECT_EQ(launched(problem(1, 20, 3, 32, 11, 4), "w256x32", {}), cudaErrorInvalidValue);
  EXPECT_EQ(launched(image(Element::kHalf, 20, 20, 64), "p240x64", {}), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace hone::device::cuda::emulated
