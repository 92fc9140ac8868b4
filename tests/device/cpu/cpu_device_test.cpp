// What the CPU says of itself to those who keep what was found out about it.
#include "device/cpu/cpu_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::device {
namespace {

/// A newer hone with other tactics must not take the choices of an older one, whose engines it runs.
TEST(CpuDevice, TimesAreOfItsTactics) {
  const engine::Device& device = cpu::cpu_device();
  const std::string engines = device.fingerprint();
  EXPECT_THAT(device.timing_fingerprint(), testing::StartsWith(engines + "; tactics "));
  EXPECT_THAT(engines, testing::Not(testing::HasSubstr("tactics")));
}

}  // namespace
}  // namespace hone::device
