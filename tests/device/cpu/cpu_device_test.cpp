// The CPU's fingerprints for those who keep what was found out about it.
#include "device/cpu/cpu_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::device {
namespace {

/// A newer hone with other tactics must not take the choices of an older one, whose engines it runs.
TEST(CpuDevice, TimesAreOfItsTactics) {
  const engine::Device& device = cpu::cpu_device();
  EXPECT_THAT(device.timing_fingerprint(), testing::HasSubstr("; tactics "));
  EXPECT_THAT(device.fingerprint(), testing::Not(testing::HasSubstr("tactics")));
}

}  // namespace
}  // namespace hone::device
