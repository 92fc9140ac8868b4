// Two convolutions in one product, and a convolution with its global pool, on the emulator.
#include <tuple>

#include "device/cuda/conv_problems.hpp"
#include "device/cuda/emulator/emulated_kernels.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_pooled.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_sum.hpp"

namespace hone::device::cuda::emulated {
namespace {

WarpgroupConfig parsed(const char* config) { return WarpgroupConfig::parse(config).value(); }

cudaError_t launch_sum(const ConvCase& first, const ConvCase& second, const char* config, Output& y) {
  ConvSumArgs args{first.args(y)};
  args.second_x = second.x().get();
  args.second_w = second.w().get();
  second.x().be_busy();
  return launch_warpgroup_sum({first.problem(), second.problem()}, parsed(config), args,
                              {.device = &emulator::properties(), .pdl = true});
}

/// The second convolution's bias is in the first one's.
void expect_sum(const ConvSum& sum, const char* config, const Steps& steps,
                const std::vector<Schedule>& schedules, int multiprocessors = 132) {
  SCOPED_TRACE(std::string(config) + ", " + std::to_string(sum.first.channels) + " and " +
               std::to_string(sum.second.channels) + " channels");
  emulator::set_multiprocessors(multiprocessors);
  const ConvCase first(sum.first, steps);
  const ConvCase second(sum.second, {});
  std::vector<double> sums = first.sums();
  const std::vector<double> others = second.sums();
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += others[i];
  expect_output(schedules, sum.first.element, result_extents(sum.first), first.finished(sums), 0,
                [&](Output& y) { return launch_sum(first, second, config, y); });
}

/// The end of a residual block whose shortcut is projected, with windows two apart: of so many channels each.
ConvSum residual(Element element, int channels, int shortcut_channels, int filters) {
  ConvSum sum{problem(2, 7, channels, filters, 1), problem(2, 13, shortcut_channels, filters, 1, 2)};
  sum.second.width = 10;
  sum.first.width = 5;
  sum.first.element = sum.second.element = element;
  return sum;
}

/// A window first, as in blocks of two convolutions: nine stages, and those of the second.
ConvSum windows_first(Element element, int shortcut_channels) {
  ConvSum sum = residual(element, 24, shortcut_channels, 40);
  sum.first = problem(2, 7, 24, 40, 3);
  sum.first.width = 5;
  sum.first.element = element;
  return sum;
}

// One multiprocessor holds two blocks of 64x32_s8, and one of 64x64_s8.
TEST(EmulatedSum, StreamsGoFromOneConvolutionToTheOther) {
  expect_sum(windows_first(Element::kHalf, 136), "64x32_s8", kRelu, kAllSchedules, 1);
  expect_sum(residual(Element::kBFloat16, 72, 200, 72), "64x64_s8", kClip, kAllSchedules, 1);
}

// The ring is filled with stages of the first alone, all of the first and some of the second, all of both.
TEST(EmulatedSum, TheRingMayEndInEitherConvolution) {
  const ConvSum sum = residual(Element::kHalf, 136, 200, 40);  // 3 and 4 stages
  for (const char* const config : {"64x32_s2", "64x32_s3", "64x32_s5", "64x32_s7", "64x32_s8"})
    expect_sum(sum, config, kRelu, kFewSchedules);
  expect_sum(residual(Element::kHalf, 64, 64, 72), "128x64_s2", {}, kFewSchedules);
  expect_sum(residual(Element::kBFloat16, 64, 64, 136), "128x128_s3", kRelu, kFewSchedules);
}

// Parts of the depth that begin in the first convolution, where the second begins, and in the second.
TEST(EmulatedSum, PartsOfAClusterBeginInEitherConvolution) {
  expect_sum(residual(Element::kHalf, 136, 136, 40), "64x32_s2_c2", kRelu, kAllSchedules);  // 3 and 3 stages
  expect_sum(residual(Element::kBFloat16, 64, 200, 40), "64x32_s2_c2", kClip, kFewSchedules);  // 1 and 4
  expect_sum(residual(Element::kHalf, 264, 64, 40), "64x32_s3_c2", kRelu, kFewSchedules);      // 5 and 1
  expect_sum(residual(Element::kHalf, 136, 136, 72), "64x64_s2_c4", kRelu, kFewSchedules);
  expect_sum(windows_first(Element::kBFloat16, 136), "64x32_s2_c8", kRelu, kFewSchedules);  // 9 and 3
}

// Five images, two of them a launch.
TEST(EmulatedSum, LargeBatchesTakeSeveralLaunches) {
  ConvSum sum = residual(Element::kHalf, 40, 72, 24);
  sum.first.batch = sum.second.batch = 5;
  const ConvCase first(sum.first, kRelu);
  const ConvCase second(sum.second, {});
  std::vector<double> sums = first.sums();
  const std::vector<double> others = second.sums();
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += others[i];
  emulator::set_multiprocessors(132);
  expect_output(kFewSchedules, Element::kHalf, result_extents(sum.first), first.finished(sums), 0,
                [&](Output& y) {
                  ConvSumArgs args{first.args(y)};
                  args.second_x = second.x().get();
                  args.second_w = second.w().get();
                  ConvSum part = sum;
                  part.first.batch = part.second.batch = 2;
                  return launch_warpgroup_sums(part, 5, parsed("64x32_s2"), args,
                                               {.device = &emulator::properties(), .pdl = true});
                });
}

TEST(EmulatedSum, OtherStepsThanBoundsAreRefused) {
  const ConvSum sum = residual(Element::kHalf, 64, 64, 40);
  for (const Steps& steps : {kSwish, kAddRelu, kHardSwish, kLeaky}) {
    Output y(sum.first.element, result_extents(sum.first));
    EXPECT_EQ(launch_sum({sum.first, steps}, {sum.second, {}}, "64x32_s2", y), cudaErrorInvalidValue);
  }
}

/// Means of rounded results over the pixels of each image. A sum of rounded numbers of some pixels is exact.
std::vector<double> means(const ConvProblem& p, const std::vector<double>& results) {
  const auto pixels = static_cast<size_t>(p.out_height()) * p.out_width();
  std::vector<double> sums(static_cast<size_t>(p.batch) * p.filters);
  for (size_t i = 0; i < results.size(); ++i)
    sums[i / p.filters / pixels * p.filters + i % p.filters] += rounded(p.element, results[i]);
  for (double& sum : sums) sum = static_cast<float>(sum) / static_cast<float>(pixels);
  return sums;
}

void expect_means(const ConvProblem& p, const char* config, const Steps& steps,
                  const std::vector<Schedule>& schedules, int multiprocessors = 132) {
  SCOPED_TRACE(std::string(config) + ", " + std::to_string(p.out_height()) + " x " +
               std::to_string(p.out_width()) + " to " + std::to_string(p.filters));
  emulator::set_multiprocessors(multiprocessors);
  const ConvCase test(p, steps);
  // Values that swish rounds the other way are at most some of an image's.
  const double roundings = test.roundings() == 0 ? 0 : 4;
  expect_output(schedules, p.element, {p.batch, 1, 1, p.filters}, means(p, test.expected()), roundings,
                [&](Output& y) {
                  return launch_warpgroup_pooled(p, parsed(config), test.args(y),
                                                 {.device = &emulator::properties(), .pdl = true});
                });
}

ConvProblem small_images(Element element, int batch, int size, int channels, int filters, int kernel = 1) {
  ConvProblem p = problem(batch, size, channels, filters, kernel);
  p.element = element;
  return p;
}

// One multiprocessor holds two blocks of 64x32_s8 and one of 64x64_s8: each block makes several tiles.
TEST(EmulatedPool, BlocksPoolImageAfterImage) {
  const ConvProblem deep = small_images(Element::kHalf, 3, 7, 24, 40, 3);
  const ConvProblem shallow = small_images(Element::kBFloat16, 3, 7, 136, 72);
  for (const Steps& steps : {kClip, kAddRelu, kSwish, kHardSwish}) {
    expect_means(deep, "64x32_s8", steps, kAllSchedules, 1);
    expect_means(shallow, "64x64_s8", steps, kAllSchedules, 1);
  }
}

TEST(EmulatedPool, TilesOfEverySizeAndImagesUpToAllRows) {
  Element element = Element::kHalf;
  for (const Steps& steps : {kRelu, kAddRelu, kSwish, kHardSwish}) {
    for (const auto& [size, channels, filters, config] :
         {std::tuple(8, 72, 40, "64x32_s2"), std::tuple(8, 8, 72, "64x64_s3"),
          std::tuple(5, 72, 136, "64x128_s2"), std::tuple(1, 136, 8, "64x32_s2"),
          std::tuple(7, 72, 72, "64x64_s2")}) {
      expect_means(small_images(element, size == 1 ? 9 : 2, size, channels, filters), config, steps,
                   kFewSchedules);
      element = element == Element::kHalf ? Element::kBFloat16 : Element::kHalf;
    }
  }
  ConvProblem odd = problem(2, 9, 24, 40, 3, 2);  // no square, windows apart
  odd.width = 6;
  expect_means(odd, "64x64_s4", kAddRelu, kFewSchedules);
}

TEST(EmulatedPool, WhatNoKernelDoesIsRefused) {
  const auto launched = [](const ConvProblem& p, const char* config, const Steps& steps) {
    Output y(p.element, {p.batch, 1, 1, p.filters});
    return launch_warpgroup_pooled(p, parsed(config), ConvCase(p, steps).args(y),
                                   {.device = &emulator::properties()});
  };
  const ConvProblem good = small_images(Element::kHalf, 1, 7, 64, 64);
  EXPECT_EQ(launched(good, "64x32_s2", kGelu), cudaErrorInvalidValue);
  EXPECT_EQ(launched(good, "128x32_s2", kRelu), cudaErrorInvalidValue);
  EXPECT_EQ(launched(small_images(Element::kHalf, 1, 9, 64, 64), "64x32_s2", kRelu), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace hone::device::cuda::emulated
