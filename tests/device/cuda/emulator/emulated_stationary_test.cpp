// Convolutions whose filters stay in shared memory, on the emulator.
#include "device/cuda/conv_problems.hpp"
#include "device/cuda/emulator/emulated_kernels.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_stationary.hpp"

namespace hone::device::cuda::emulated {
namespace {

/// The filters as the kernel takes them.
Tensor packed(const ConvProblem& p, const Tensor& w) {
  std::vector<float> values(w.values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    values[stationary_place(p.channels, at / p.channels / 9, at / p.channels % 9, at % p.channels)] =
        w.values[i];
  }
  return {p.element, values};
}

ConvProblem images(int batch, int height, int width, int channels, int filters,
                   Element element = Element::kHalf) {
  ConvProblem p = problem(batch, height, channels, filters);
  p.width = width;
  p.element = element;
  return p;
}

void expect(const ConvProblem& p, const Steps& steps, const std::vector<Schedule>& schedules,
            int multiprocessors = 132, bool bias = true) {
  SCOPED_TRACE(std::to_string(p.batch) + " x " + std::to_string(p.height) + " x " + std::to_string(p.width) +
               ", " + std::to_string(p.channels) + " to " + std::to_string(p.filters));
  emulator::set_multiprocessors(multiprocessors);
  const ConvCase test(p, steps);
  const Tensor filters = packed(p, test.w());
  std::vector<double> expected = test.expected();
  if (!bias) {
    ASSERT_TRUE(steps.empty());
    expected = test.sums();
  }
  expect_output(schedules, p.element, result_extents(p), expected, 0, [&](Output& y) {
    ConvArgs args = test.args(y);
    args.w = filters.get();
    if (!bias) args.bias = nullptr;
    return launch_warpgroup_stationary(p, args, {.device = &emulator::properties(), .pdl = true});
  });
}

// Rows that all are one tile, and several tiles with rows left over; of each number of columns.
TEST(EmulatedStationary, BlocksAddUpTwoWarpgroups) {
  expect(images(1, 3, 7, 128, 64), kRelu, kAllSchedules);
  expect(images(2, 5, 28, 128, 64), kClip, kFewSchedules);
  expect(images(1, 8, 14, 128, 128), kAddRelu, kFewSchedules);
}

TEST(EmulatedStationary, ClustersAddUpTheirChannels) {
  expect(images(1, 4, 14, 256, 64), kRelu, kAllSchedules);
  expect(images(2, 7, 7, 512, 64), kAddRelu, kAllSchedules);
  expect(images(1, 5, 28, 256, 64, Element::kBFloat16), kRelu, kFewSchedules);
}

// As many multiprocessors as a cluster has blocks: one after the other, as many as a block has room for.
TEST(EmulatedStationary, BlocksTakeTileAfterTile) {
  expect(images(3, 7, 7, 512, 64), kRelu, kAllSchedules, 4);
  expect(images(5, 7, 7, 128, 64), kRelu, kFewSchedules, 1);
  expect(images(1, 14, 14, 256, 128), kRelu, kFewSchedules, 2);
  expect(images(2, 14, 13, 128, 128, Element::kBFloat16), kAddRelu, kFewSchedules, 4);
}

TEST(EmulatedStationary, RowsOfManyWidths) {
  for (const int width : {1, 2, 8, 55, 56, 80, 81})
    expect(images(1, 2, width, 128, 64), {}, kFewSchedules, 132, width % 2 == 0);
}

TEST(EmulatedStationary, OtherStepsAreRefused) {
  const ConvProblem p = images(1, 7, 7, 128, 64);
  for (const Steps& steps : {kSwish, kHardSwish, kGelu}) {
    const ConvCase test(p, steps);
    Output y(p.element, result_extents(p));
    EXPECT_EQ(launch_warpgroup_stationary(p, test.args(y), {.device = &emulator::properties(), .pdl = true}),
              cudaErrorInvalidValue);
  }
  const ConvCase test(p, kAddRelu);
  Output y(p.element, result_extents(p));
  ConvArgs args = test.args(y);
  args.steps[0].operand = nullptr;
  EXPECT_EQ(launch_warpgroup_stationary(p, args, {.device = &emulator::properties(), .pdl = true}),
            cudaErrorInvalidValue);
}

}  // namespace
}  // namespace hone::device::cuda::emulated
