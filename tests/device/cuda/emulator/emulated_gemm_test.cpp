// The warpgroup GEMM on the emulator: streams of tiles, blocks of one tile, clusters.
#include <iterator>

#include "device/cuda/conv_problems.hpp"
#include "device/cuda/emulator/emulated_kernels.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_params.hpp"

namespace hone::device::cuda::emulated {
namespace {

/// Steps that only the list of steps can do, with operands of all shapes.
const Steps kGeneral = {{graph::PostOp::kMul, 0, 0, OperandShape::kPerChannel},
                        {graph::PostOp::kLeakyRelu, 0.25F},
                        {graph::PostOp::kAdd},
                        {graph::PostOp::kSub, 0, 0, OperandShape::kPerImageChannel}};

void expect_convolution(const ConvProblem& problem, const std::string& config, const Steps& steps,
                        const std::vector<Schedule>& schedules, int multiprocessors = 132) {
  SCOPED_TRACE(config + ", " + std::to_string(problem.channels) + " to " + std::to_string(problem.filters) +
               " by " + std::to_string(problem.kernel_h) + " x " + std::to_string(problem.kernel_w) +
               ", steps " + std::to_string(steps.size()));
  emulator::set_multiprocessors(multiprocessors);
  const ConvCase test(problem, steps);
  const Element result = problem.float_result ? Element::kFloat : problem.element;
  expect_output(schedules, result, result_extents(problem), test.expected(), test.roundings(),
                [&](Output& y) {
                  return launch_warpgroup(problem, WarpgroupConfig::parse(config).value(), test.args(y),
                                          {.device = &emulator::properties(), .pdl = true});
                });
}

/// Two images whose pixels do not fill their last tile.
ConvProblem images(Element element, int channels, int filters, int kernel = 1) {
  ConvProblem p = problem(2, 7, channels, filters, kernel);
  p.element = element;
  p.width = 6;
  return p;
}

/// A convolution of 1 x 1 whose pixels and filters go a little beyond one tile, or end before, and two stages
/// deep.
ConvProblem around_tile(const WarpgroupShape& shape, Element element) {
  ConvProblem p = problem(1, 0, 72, shape.tile_n < 128 ? shape.tile_n + 8 : shape.tile_n - 8, 1);
  p.element = element;
  p.height = 7;
  p.width = shape.tile_m / 7 + (shape.tile_n < 128 ? 1 : 0);
  return p;
}

/// Each tile with either of two elements in turn.
void expect_all_tiles(const Steps& steps, Element first, Element second) {
  for (size_t i = 0; i < std::size(kWarpgroupShapes); ++i) {
    const WarpgroupShape& shape = kWarpgroupShapes[i];
    expect_convolution(around_tile(shape, i % 2 == 0 ? first : second),
                       WarpgroupConfig{shape.tile_m, shape.tile_n, 3, 1}.text(), steps, kFewSchedules);
  }
}

TEST(EmulatedGemm, StreamsOfEveryTileBoundTheirSums) {
  expect_all_tiles(kClip, Element::kHalf, Element::kBFloat16);
}

TEST(EmulatedGemm, StreamsOfEveryTileAdd) { expect_all_tiles(kAddRelu, Element::kBFloat16, Element::kHalf); }

TEST(EmulatedGemm, StreamsOfEveryTileTakeTheGelu) {
  expect_all_tiles(kGelu, Element::kHalf, Element::kBFloat16);
  expect_all_tiles(kGeluTanh, Element::kBFloat16, Element::kHalf);
}

TEST(EmulatedGemm, StreamsOfEveryTileTakeALeakyRectifier) {
  expect_all_tiles(kLeaky, Element::kHalf, Element::kBFloat16);
}

TEST(EmulatedGemm, StreamsOfEveryTileSwish) { expect_all_tiles(kSwish, Element::kHalf, Element::kBFloat16); }

TEST(EmulatedGemm, StreamsOfEveryTileTakeTheHardSwish) {
  expect_all_tiles(kHardSwish, Element::kBFloat16, Element::kHalf);
}

TEST(EmulatedGemm, BlocksOfEveryTileTakeTheirSteps) {
  expect_all_tiles(kGeneral, Element::kBFloat16, Element::kHalf);
}

// One multiprocessor holds two blocks of 64x32_s8, and one of 64x64_s8 and of 256x64_s3: each block makes
// several tiles. Depths of 9 and 3 stages go round the ring, or do not fill it.
TEST(EmulatedGemm, BlocksOfAStreamMakeTileAfterTile) {
  const ConvProblem deep = images(Element::kHalf, 64, 72, 3);
  const ConvProblem shallow = images(Element::kBFloat16, 136, 72);
  for (const Steps& steps : {kClip, kAddRelu, kSwish}) {
    expect_convolution(deep, "64x32_s8", steps, kAllSchedules, 1);
    expect_convolution(shallow, "64x64_s8", steps, kAllSchedules, 1);
  }
  ConvProblem large = images(Element::kHalf, 200, 72);
  large.height = 23;
  expect_convolution(large, "256x64_s3", kAddRelu, kFewSchedules, 1);
}

TEST(EmulatedGemm, BlocksOfOneTileGoRoundTheirRing) {
  expect_convolution(images(Element::kHalf, 72, 40, 3), "64x32_s2", kGeneral, kAllSchedules);
  expect_convolution(images(Element::kBFloat16, 136, 72), "128x64_s6", kElu, kAllSchedules);
}

std::vector<ConvProblem> windows() {
  std::vector<ConvProblem> result;
  const auto add = [&](ConvProblem p, auto change) {
    change(p);
    result.push_back(p);
  };
  add(problem(2, 9, 40, 40), [](ConvProblem& p) { p.width = 5; });
  add(problem(3, 11, 8, 8, 3, 2), [](ConvProblem&) {});
  add(problem(2, 10, 72, 16, 1, 2), [](ConvProblem& p) { p.width = 7; });
  add(problem(1, 9, 16, 40, 3), [](ConvProblem& p) {
    p.dilation_h = p.dilation_w = 2;
    p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 2;
  });
  add(problem(1, 12, 8, 32, 7, 2), [](ConvProblem&) {});
  // Padding on one side, none, cropped pixels.
  add(problem(2, 8, 8, 24, 3, 2), [](ConvProblem& p) { p.pad_top = p.pad_left = 0; });
  add(problem(2, 9, 8, 24, 2),
      [](ConvProblem& p) { p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 0; });
  add(problem(2, 9, 8, 24, 1, 2), [](ConvProblem& p) { p.pad_bottom = -1, p.pad_right = -3; });
  add(problem(1, 9, 136, 8), [](ConvProblem& p) {
    p.kernel_h = p.dilation_w = 1;
    p.pad_top = p.pad_bottom = 0;
    p.stride_h = 3;
  });
  // An image smaller than its window.
  add(problem(5, 2, 8, 16, 5), [](ConvProblem& p) { p.width = 1; });
  return result;
}

TEST(EmulatedGemm, WindowsOfAllKinds) {
  for (const ConvProblem& p : windows()) expect_convolution(p, "64x32_s4", kClip, kFewSchedules);
}

TEST(EmulatedGemm, WindowsOfAllKindsByClusters) {
  for (const ConvProblem& p : windows()) {
    const bool splits = warpgroup_depth_steps(p) >= 4;
    expect_convolution(p, splits ? "64x32_s2_c4" : "128x32_s2", kRelu, {{Pace::kAnyTime, Pace::kAnyTime, 4}});
  }
}

// Nine stages for two, four and eight blocks: some have one more than others.
TEST(EmulatedGemm, ClustersShareADepth) {
  ConvProblem deep = images(Element::kHalf, 40, 40, 3);
  expect_convolution(deep, "64x32_s2_c2", kGeneral, kAllSchedules);
  expect_convolution(deep, "64x32_s4_c4", kAddRelu, kAllSchedules);
  expect_convolution(deep, "64x32_s2_c8", kClip, kFewSchedules);
  expect_convolution(deep, "64x32_s2_c2", kSwish, kFewSchedules);
  deep.element = Element::kBFloat16;
  expect_convolution(deep, "64x32_s2_c2", kAddRelu, kAllSchedules);
  expect_convolution(deep, "64x32_s3_c4", kClip, kAllSchedules);
  expect_convolution(deep, "64x32_s2_c8", kGeneral, kFewSchedules);
  expect_convolution(deep, "64x32_s2_c4", kHardSwish, kFewSchedules);
}

// Blocks of large tiles, and two of any, meet at a barrier when their sums have been sent; others count them.
TEST(EmulatedGemm, ClustersHaveEveryTileThatFits) {
  const struct {
    const char* config;
    Steps steps;
  } cases[] = {{"64x64_s2_c4", kClip},     {"64x64_s2_c8", kAddRelu},   {"64x128_s2_c2", kGeneral},
               {"64x128_s2_c4", kClip},    {"128x32_s2_c4", kAddRelu},  {"128x64_s2_c2", kClip},
               {"128x64_s2_c4", kGeneral}, {"128x128_s2_c2", kAddRelu}, {"256x64_s2_c2", kClip}};
  Element element = Element::kHalf;
  for (const auto& [config, steps] : cases) {
    ConvProblem p = images(element, 16, 72, 3);
    p.batch = 1;
    expect_convolution(p, config, steps, kFewSchedules);
    element = element == Element::kHalf ? Element::kBFloat16 : Element::kHalf;
  }
}

TEST(EmulatedGemm, FloatsLeaveAClusterUnrounded) {
  ConvProblem logits = problem(3, 1, 520, 40, 1);
  logits.float_result = true;
  expect_convolution(logits, "64x32_s2_c4", {}, kAllSchedules);
  logits.element = Element::kBFloat16;
  expect_convolution(logits, "64x64_s3_c2", kClip, kFewSchedules);
}

TEST(EmulatedGemm, WhatNoKernelDoesIsRefused) {
  const auto launched = [](const ConvProblem& p, const char* config, const Steps& steps, auto change) {
    const ConvCase test(p, steps);
    Output y(p.element, result_extents(p));
    ConvArgs args = test.args(y);
    change(args);
    return launch_warpgroup(p, WarpgroupConfig::parse(config).value(), args,
                            {.device = &emulator::properties()});
  };
  const auto nothing = [](ConvArgs&) {};
  const ConvProblem good = images(Element::kHalf, 72, 40);
  EXPECT_EQ(launched(good, "48x32_s4", {}, nothing), cudaErrorInvalidValue);
  EXPECT_EQ(launched(good, "64x32_s2", kAddRelu, [](ConvArgs& args) { args.steps[0].operand = nullptr; }),
            cudaErrorInvalidValue);
  EXPECT_EQ(
      launched(good, "64x32_s2", kRelu, [](ConvArgs& args) { args.step_count = kMaxEpilogueSteps + 1; }),
      cudaErrorInvalidValue);
  // Maps begin at multiples of 16 bytes.
  EXPECT_EQ(launched(good, "64x32_s2", {},
                     [](ConvArgs& args) { args.x = static_cast<const std::byte*>(args.x) + 8; }),
            cudaErrorInvalidValue);
  ConvProblem logits = good;
  logits.float_result = true;
  EXPECT_EQ(launched(logits, "64x32_s2", {}, nothing), cudaErrorInvalidValue);
  EXPECT_EQ(launched(logits, "64x32_s2_c2", kSwish, nothing), cudaErrorInvalidValue);
  EXPECT_EQ(launched(logits, "64x32_s2_c2", kAddRelu, nothing), cudaErrorInvalidValue);
  EXPECT_EQ(emulator::take_faults(), "");
}

}  // namespace
}  // namespace hone::device::cuda::emulated
