// Pointwise convolutions by single warps (warp_gemm) on the emulator: every depth that is compiled,
// tiles that pixels and filters do not fill, warps that make tile after tile.
#include "device/cuda/conv_problems.hpp"
#include "device/cuda/emulator/emulated_kernels.hpp"
#include "device/cuda/plugin/kernels/gemm/warp/warp_gemm.hpp"
#include "device/cuda/plugin/kernels/gemm/warp/warp_gemm_params.hpp"

namespace hone::device::cuda::emulated {
namespace {

/// Two images of 5 x 7 pixels.
ConvProblem images(Element element, int channels, int filters) {
  ConvProblem p = problem(2, 5, channels, filters, 1);
  p.element = element;
  p.width = 7;
  return p;
}

void expect_convolution(const ConvProblem& p, const WarpGemmConfig& config, const Steps& steps,
                        int multiprocessors = 132) {
  SCOPED_TRACE(config.text() + ", " + std::to_string(p.channels) + " to " + std::to_string(p.filters));
  emulator::set_multiprocessors(multiprocessors);
  const ConvCase test(p, steps);
  expect_output(
      kFewSchedules, p.element, result_extents(p), test.expected(), test.roundings(), [&](Output& y) {
        return launch_warp_gemm(p, config, test.args(y), {.device = &emulator::properties(), .pdl = true});
      });
}

/// A problem for each compiled kernel, whose last run of 32 channels is not full.
void expect_all_shapes(const Steps& steps, Element element) {
  for (const WarpGemmShape& shape : kWarpGemmShapes)
    expect_convolution(images(element, shape.chunks * kWarpGemmChunk - 8, 40), {shape.tile_m}, steps);
}

TEST(EmulatedWarpGemm, EveryKernelBoundsItsSums) { expect_all_shapes(kClip, Element::kHalf); }

TEST(EmulatedWarpGemm, EveryKernelAdds) { expect_all_shapes(kAddRelu, Element::kBFloat16); }

TEST(EmulatedWarpGemm, EveryKernelSwishes) { expect_all_shapes(kSwish, Element::kHalf); }

TEST(EmulatedWarpGemm, EveryKernelTakesTheOtherActivations) {
  expect_all_shapes(kHardSwish, Element::kHalf);
  expect_all_shapes(kLeaky, Element::kBFloat16);
  expect_all_shapes(kGelu, Element::kBFloat16);
  expect_all_shapes(kGeluTanh, Element::kHalf);
}

TEST(EmulatedWarpGemm, FewChannelsAndFilters) {
  for (const int channels : {8, 16, 24}) {
    for (const int filters : {8, 16, 72})
      expect_convolution(images(Element::kHalf, channels, filters), {}, kRelu);
  }
}

TEST(EmulatedWarpGemm, WarpsMakeTileAfterTile) {
  ConvProblem p = images(Element::kBFloat16, 40, 72);
  p.height = 150;
  for (const int tile_m : {16, 32}) expect_convolution(p, {tile_m}, kAddRelu, 1);
}

TEST(EmulatedWarpGemm, WhatNoKernelDoesIsRefused) {
  const auto launched = [](const ConvProblem& p, const WarpGemmConfig& config, const Steps& steps) {
    const ConvCase test(p, steps);
    Output y(p.element, result_extents(p));
    return launch_warp_gemm(p, config, test.args(y), {.device = &emulator::properties(), .pdl = true});
  };
  const ConvProblem good = images(Element::kHalf, 64, 64);
  EXPECT_EQ(launched(good, {}, {}), cudaSuccess);
  EXPECT_EQ(launched(good, {}, kElu), cudaErrorInvalidValue);
  EXPECT_EQ(launched(good, {48}, {}), cudaErrorInvalidValue);
  EXPECT_EQ(launched(problem(2, 5, 64, 64), {}, {}), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace hone::device::cuda::emulated
