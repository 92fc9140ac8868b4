// Convolutions from slabs on the emulator.
#include <tuple>

#include "device/cuda/conv_problems.hpp"
#include "device/cuda/emulator/emulated_kernels.hpp"
#include "device/cuda/plugin/kernels/warpgroup_slab.hpp"

namespace hone::device::cuda::emulated {
namespace {

const Steps kGeneral = {{EpilogueOp::kMul, 0, 0, OperandShape::kPerChannel},
                        {EpilogueOp::kLeakyRelu, 0.25F},
                        {EpilogueOp::kAdd},
                        {EpilogueOp::kSub, 0, 0, OperandShape::kPerImageChannel}};

void expect_convolution(const ConvProblem& problem, const std::string& config, const Steps& steps,
                        const std::vector<Schedule>& schedules) {
  SCOPED_TRACE(config + ", " + std::to_string(problem.height) + " x " + std::to_string(problem.width) + ", " +
               std::to_string(problem.channels) + " to " + std::to_string(problem.filters) + ", steps " +
               std::to_string(steps.size()));
  const ConvCase test(problem, steps);
  expect_output(schedules, problem.element, result_extents(problem), test.expected(), test.roundings(),
                [&](Output& y) {
                  return launch_slab(problem, SlabConfig::parse(config).value(), test.args(y), true, nullptr);
                });
}

ConvProblem images(Element element, int height, int width, int channels, int filters) {
  ConvProblem p = problem(2, height, channels, filters);
  p.width = width;
  p.element = element;
  return p;
}

// One chunk of channels a block, two and three, whose slabs and filters go round; parts of unequal length.
TEST(EmulatedSlab, BlocksOfAClusterShareTheChannels) {
  expect_convolution(images(Element::kHalf, 7, 7, 72, 40), "64x32_c2", kClip, kAllSchedules);
  expect_convolution(images(Element::kBFloat16, 7, 6, 200, 72), "64x64_c2", kAddRelu, kAllSchedules);
  expect_convolution(images(Element::kHalf, 5, 7, 328, 40), "64x32_c2", kRelu, kFewSchedules);
  expect_convolution(images(Element::kBFloat16, 7, 7, 264, 40), "64x32_c4", kClip, kAllSchedules);
  expect_convolution(images(Element::kHalf, 7, 7, 456, 72), "64x64_c8", kAddRelu, kFewSchedules);
}

// Rows of 8, 16, 32 and 64 positions; images that end within a tile, or with it.
TEST(EmulatedSlab, ImagesOfEveryWidth) {
  Element element = Element::kHalf;
  for (const auto& [height, width] :
       {std::pair(8, 8), std::pair(9, 1), std::pair(14, 14), std::pair(5, 16), std::pair(3, 17),
        std::pair(4, 32), std::pair(2, 33), std::pair(1, 64)}) {
    expect_convolution(images(element, height, width, 72, 40), "64x32_c2", kClip, kFewSchedules);
    element = element == Element::kHalf ? Element::kBFloat16 : Element::kHalf;
  }
}

TEST(EmulatedSlab, PaddingOfEverySide) {
  for (const auto& [top, left, bottom, right] :
       {std::tuple(0, 0, 0, 0), std::tuple(2, 0, 1, 3), std::tuple(0, 2, -1, 1), std::tuple(3, 3, 3, 3)}) {
    ConvProblem p = images(Element::kHalf, 7, 9, 72, 24);
    p.pad_top = top, p.pad_left = left, p.pad_bottom = bottom, p.pad_right = right;
    expect_convolution(p, "64x32_c2", kRelu, kFewSchedules);
  }
}

TEST(EmulatedSlab, EveryTileTakesEveryEpilogue) {
  for (const char* config : {"64x32_c2", "64x64_c4", "64x128_c2", "64x128_c4"}) {
    const int channels = config[std::string(config).size() - 1] == '4' ? 200 : 72;
    for (const Steps& steps : {Steps{}, kAddRelu, kSwish, kGeneral}) {
      expect_convolution(images(Element::kHalf, 7, 7, channels, 136), config, steps, kFewSchedules);
      expect_convolution(images(Element::kBFloat16, 7, 7, channels, 136), config, steps,
                         {{Pace::kAnyTime, Pace::kAnyTime, 5}});
    }
  }
}

TEST(EmulatedSlab, WhatNoKernelDoesIsRefused) {
  const auto launched = [](const ConvProblem& p, const char* config, auto change) {
    const ConvCase test(p, kAddRelu);
    Output y(p.element, result_extents(p));
    ConvArgs args = test.args(y);
    change(args);
    return launch_slab(p, SlabConfig::parse(config).value(), args, false, nullptr);
  };
  const auto nothing = [](ConvArgs&) {};
  const ConvProblem good = images(Element::kHalf, 7, 7, 72, 40);
  EXPECT_EQ(launched(good, "64x32_c2", nothing), cudaSuccess);
  EXPECT_EQ(launched(good, "64x32_c4", nothing), cudaErrorInvalidValue);
  EXPECT_EQ(launched(good, "64x32_c2", [](ConvArgs& args) { args.steps[0].operand = nullptr; }),
            cudaErrorInvalidValue);
  // Maps begin at multiples of 16 bytes.
  EXPECT_EQ(
      launched(good, "64x32_c2", [](ConvArgs& args) { args.x = static_cast<const std::byte*>(args.x) + 8; }),
      cudaErrorInvalidValue);
  EXPECT_EQ(emulator::take_faults(), "");
}

}  // namespace
}  // namespace hone::device::cuda::emulated
