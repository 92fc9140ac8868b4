// What the bottleneck's kernel refuses; the rest of it needs a GPU.
#include "device/cuda/plugin/kernels/bottleneck.hpp"

#include <gtest/gtest.h>

namespace hone::device::cuda {
namespace {

Bottleneck sized(int64_t batch, int64_t height, int64_t width, int64_t next, bool projects = false) {
  return {.batch = batch, .height = height, .width = width, .next = next, .projects = projects};
}

TEST(Bottleneck, TakesTheNextChannelsThatFitIntoSharedMemory) {
  const DeviceLimits device;
  EXPECT_EQ(bottleneck_refusal(sized(1, 56, 56, 64), device), "");
  EXPECT_EQ(bottleneck_refusal(sized(1, 56, 56, 128), device), "");
  EXPECT_EQ(bottleneck_refusal(sized(1, 56, 56, 64, true), device), "");
  EXPECT_NE(bottleneck_refusal(sized(1, 56, 56, 128, true), device), "");
  EXPECT_NE(bottleneck_refusal(sized(1, 56, 56, 96), device), "");
}

TEST(Bottleneck, RefusesDevicesWithoutProductsOfWarpgroups) {
  DeviceLimits device;
  device.warpgroups = false;
  EXPECT_NE(bottleneck_refusal(sized(1, 56, 56, 64), device), "");
}

TEST(Bottleneck, MakesSomePixelsOfARowATile) {
  EXPECT_EQ(sized(2, 3, 1, 64).tiles(), 6);
  EXPECT_EQ(sized(2, 3, 64, 64).tiles(), 6);
  EXPECT_EQ(sized(2, 3, 65, 64).tiles(), 12);
  EXPECT_EQ(sized(0, 3, 65, 64).tiles(), 0);
  EXPECT_EQ(bottleneck_refusal(sized(0, 3, 65, 64), {}), "");
  EXPECT_NE(bottleneck_refusal(sized(1, 0, 65, 64), {}), "");
  EXPECT_NE(bottleneck_refusal(sized(int64_t{1} << 30, 3, 65, 64), {}), "");
}

}  // namespace
}  // namespace hone::device::cuda
