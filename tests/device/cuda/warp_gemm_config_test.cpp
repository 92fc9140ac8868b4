// Configurations of pointwise convolutions by single warps: which a problem has, and why others are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cuda/conv_problems.hpp"
#include "device/cuda/plugin/kernels/gemm/warp/warp_gemm.hpp"

namespace hone::device::cuda {
namespace {

std::vector<std::string> texts(const ConvProblem& p) {
  std::vector<std::string> result;
  for (const WarpGemmConfig& config : warp_gemm_configs(p, {})) {
    EXPECT_EQ(warp_gemm_refusal(p, config, {}).text(), "") << config.text();
    EXPECT_EQ(WarpGemmConfig::parse(config.text()), config);
    result.push_back(config.text());
  }
  return result;
}

TEST(WarpGemmConfig, LargeTilesAreForFewChannels) {
  EXPECT_THAT(texts(problem(32, 112, 16, 96, 1)), testing::ElementsAre("32x32", "16x32"));
  EXPECT_THAT(texts(problem(1, 14, 64, 384, 1)), testing::ElementsAre("32x32", "16x32"));
  EXPECT_THAT(texts(problem(32, 56, 144, 24, 1)), testing::ElementsAre("16x32"));
  EXPECT_THAT(texts(problem(1, 7, 168, 160, 1)), testing::IsEmpty());
  EXPECT_THAT(texts(problem(1, 14, 64, 64, 3)), testing::IsEmpty());
}

TEST(WarpGemmConfig, OtherTextsAreNoConfigurations) {
  for (const char* text : {"", "32", "32x64", "64x32", "32x32_s2", " 32x32", "32x32 ", "+32x32", "32X32"})
    EXPECT_FALSE(WarpGemmConfig::parse(text)) << text;
}

TEST(WarpGemmConfig, RefusalsSayWhy) {
  const ConvProblem good = problem(1, 14, 160, 64, 1);
  const WarpGemmConfig small{16};
  EXPECT_EQ(warp_gemm_refusal(good, small, {}).text(), "");
  EXPECT_EQ(warp_gemm_refusal(good, {32}, {}).text(), "160 channels are more than a warp has registers for");
  EXPECT_EQ(warp_gemm_refusal(good, small, {.async_copies = false}).text(),
            "it needs compute capability 8.0");
  for (const ConvProblem& p : {problem(1, 14, 64, 64, 1, 2), problem(1, 14, 64, 64, 3)})
    EXPECT_EQ(warp_gemm_refusal(p, small, {}).text(), "windows are not single pixels, one after the other");
  ConvProblem wide = good;
  wide.element = Element::kTf32;
  EXPECT_EQ(warp_gemm_refusal(wide, small, {}).text(), "it multiplies elements of two bytes");
}

}  // namespace
}  // namespace hone::device::cuda
