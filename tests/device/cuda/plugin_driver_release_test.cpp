// The release of the driver in what its kernel modules say.
#include "device/cuda/plugin/driver_release.hpp"

#include <gtest/gtest.h>

namespace hone::device::cuda {
namespace {

TEST(DriverRelease, StandsInTheLineOfBothKernelModules) {
  EXPECT_EQ(driver_release(
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Mon Aug  4 05:32:19 UTC 2025\n"
                "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n"),
            "580.159.04");
  EXPECT_EQ(
      driver_release("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  470.42  Release Build\n"),
      "470.42");
  EXPECT_EQ(driver_release(""), "");
  EXPECT_EQ(driver_release("no version"), "");
}

}  // namespace
}  // namespace hone::device::cuda
