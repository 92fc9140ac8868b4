// How convolutions whose filters stay in shared memory are cut up, and what is refused.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_stationary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "device/cuda/conv_problems.hpp"

namespace hone::device::cuda {
namespace {

using ::testing::HasSubstr;

std::string refusal(const ConvProblem& p) { return warpgroup_stationary_refusal(p, {}).text(); }

TEST(WarpgroupStationary, CutsResNetsImagesWithFewColumnsThatAreNone) {
  const StationaryPlan wide = StationaryPlan::of(problem(8, 28, 128, 128), {});
  EXPECT_EQ(wide.columns, 120);
  EXPECT_EQ(wide.rows, 4);
  EXPECT_EQ(wide.strips, 7);
  EXPECT_EQ(wide.parts, 1);
  EXPECT_EQ(wide.most_tiles, 1);
  const StationaryPlan middle = StationaryPlan::of(problem(8, 14, 256, 256), {});
  EXPECT_EQ(middle.columns, 104);
  EXPECT_EQ(middle.rows, 7);
  EXPECT_EQ(middle.strips, 2);
  EXPECT_EQ(middle.parts, 2);
  EXPECT_EQ(middle.most_tiles, 1);
  const StationaryPlan small = StationaryPlan::of(problem(8, 7, 512, 512), {});
  EXPECT_EQ(small.columns, 56);
  EXPECT_EQ(small.rows, 7);
  EXPECT_EQ(small.strips, 1);
  EXPECT_EQ(small.parts, 4);
  EXPECT_EQ(small.most_tiles, 3);
}

/// The last window's last column lies in the slab, and what a warpgroup gives the other one fits into it;
/// slabs begin where swizzling repeats. Rows of 82 pixels do not fit beside the filters.
TEST(WarpgroupStationary, SlabsHoldWhatWindowsReach) {
  for (int width = 1; width <= 81; ++width) {
    ConvProblem p = problem(1, 9, 128, 64);
    p.width = width;
    ASSERT_EQ(refusal(p), "") << width;
    const StationaryPlan plan = StationaryPlan::of(p, {});
    const int pitch = width + 1;
    EXPECT_LE(plan.rows * pitch - 1, plan.columns) << width;
    EXPECT_GE(plan.slab_bytes, (2 * pitch + 2 + plan.columns) * 128) << width;
    EXPECT_GE(plan.slab_bytes, (plan.rows + 3) * pitch * 128) << width;
    EXPECT_EQ(plan.slab_bytes % 1024, 0) << width;
    EXPECT_GE(plan.slab_bytes, (plan.columns + 15) / 16 * 2048) << width;
    EXPECT_LE(plan.shared_bytes(plan.most_tiles), DeviceProperties().shared_memory) << width;
    EXPECT_GE(plan.strips * plan.rows, p.height) << width;
  }
}

TEST(WarpgroupStationary, RefusesOtherConvolutions) {
  EXPECT_EQ(refusal(problem(8, 14, 256, 256)), "");
  EXPECT_EQ(refusal(problem(0, 14, 256, 256)), "");
  EXPECT_THAT(refusal(problem(8, 14, 256, 256, 1)), HasSubstr("3 x 3"));
  EXPECT_THAT(refusal(problem(8, 14, 256, 256, 3, 2)), HasSubstr("strides"));
  EXPECT_THAT(refusal(problem(8, 14, 64, 64)), HasSubstr("64 channels"));
  EXPECT_THAT(refusal(problem(8, 14, 384, 384)), HasSubstr("384 channels"));
  EXPECT_THAT(refusal(problem(8, 14, 1024, 64)), HasSubstr("1024 channels"));
  EXPECT_THAT(refusal(problem(8, 14, 256, 96)), HasSubstr("96 filters"));
  EXPECT_THAT(refusal(problem(1, 28, 128, 64 << 20)), HasSubstr("too large"));
  EXPECT_THAT(refusal(problem(8, 121, 256, 64)), HasSubstr("rows of 121 pixels"));
  EXPECT_THAT(refusal(problem(8, 82, 256, 64)), HasSubstr("does not fit"));
  ConvProblem p = problem(8, 14, 256, 256);
  p.pad_right = 0;
  EXPECT_THAT(refusal(p), HasSubstr("padding"));
  p = problem(8, 14, 256, 256);
  p.element = Element::kTf32;
  EXPECT_THAT(refusal(p), HasSubstr("two bytes"));
  DeviceProperties device;
  device.warpgroups = false;
  EXPECT_NE(warpgroup_stationary_refusal(problem(8, 14, 256, 256), device).text(), "");
  device = {};
  device.shared_memory = 64 * 1024;
  EXPECT_THAT(warpgroup_stationary_refusal(problem(8, 14, 256, 256), device).text(),
              HasSubstr("does not fit"));
}

TEST(WarpgroupStationary, PlacesOfWeightsAreAPermutation) {
  std::vector<int> places(size_t{128} * 9 * 256);
  for (int64_t k = 0; k < 128; ++k) {
    for (int64_t tap = 0; tap < 9; ++tap) {
      for (int64_t c = 0; c < 256; ++c) ++places.at(stationary_place(256, k, tap, c));
    }
  }
  EXPECT_EQ(places, std::vector<int>(places.size(), 1));
}

}  // namespace
}  // namespace hone::device::cuda
