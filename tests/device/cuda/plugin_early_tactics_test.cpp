// Which tactics are tried together, since their kernels start early.
#include "device/cuda/plugin/tactics/early_tactics.hpp"

#include <gtest/gtest.h>

namespace hone::device::cuda {
namespace {

TEST(EarlyTactics, VariantsStartAsTheirTacticDoes) {
  EXPECT_TRUE(starts_early("warpgroup_gemm:64x64_s8_c4"));
  EXPECT_TRUE(starts_early("warp_gemm:16x32"));
  EXPECT_TRUE(starts_early("warpgroup_sum:64x64_s8"));
  EXPECT_TRUE(starts_early("bottleneck"));
  EXPECT_TRUE(starts_early("pipelined_bottleneck"));
  EXPECT_TRUE(starts_early("row_attention:x8"));
  EXPECT_TRUE(starts_early("row_products"));
  EXPECT_TRUE(starts_early("scatter_picks"));
  EXPECT_TRUE(starts_early("gather_strided"));
  EXPECT_TRUE(starts_early("warpgroup_stationary"));
  EXPECT_FALSE(starts_early("cudnn:e3k1=2"));
  EXPECT_FALSE(starts_early("warpgroup"));
  EXPECT_FALSE(starts_early(""));
}

TEST(EarlyTactics, APoolBehindChangesNothing) {
  EXPECT_TRUE(starts_early("warpgroup_gemm+pool:64x64_s8"));
  EXPECT_TRUE(starts_early("stem_gemm+pool:256x64"));
  EXPECT_FALSE(starts_early("cudnn+pool:e3"));
}

}  // namespace
}  // namespace hone::device::cuda
