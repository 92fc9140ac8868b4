// The list of devices: the CPU is always there, and what cannot be used says why.
#include "hone/devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(ApiDevices, TheFirstIsTheCpuWithItsMemoryAndPrecisions) {
  const std::vector<DeviceInfo> list = devices();
  ASSERT_FALSE(list.empty());
  const DeviceInfo& cpu = list.front();
  EXPECT_EQ(cpu.name, "cpu");
  EXPECT_EQ(cpu.place, Place{});
  EXPECT_EQ(cpu.unavailable, "");
  EXPECT_THAT(cpu.model, testing::Not(testing::IsEmpty()));
  EXPECT_THAT(cpu.details, testing::ContainsRegex("^[^;]+; oneDNN [0-9]"));
  EXPECT_GT(cpu.total_memory, 0);
  EXPECT_GT(cpu.free_memory, 0);
  EXPECT_LE(cpu.free_memory, cpu.total_memory);
  EXPECT_THAT(cpu.precisions, testing::Contains("fp32"));
  EXPECT_THAT(cpu.precisions, testing::Not(testing::Contains("fp16")));
}

TEST(ApiDevices, OthersAreUsableOrSayWhyNot) {
  const std::vector<DeviceInfo> list = devices();
  for (size_t i = 1; i < list.size(); ++i) {
    EXPECT_EQ(list[i].place.kind, PlaceKind::kCuda) << list[i].name;
    EXPECT_EQ(list[i].unavailable.empty(), list[i].total_memory > 0) << list[i].name;
    EXPECT_EQ(list[i].unavailable.empty(), !list[i].precisions.empty()) << list[i].name;
  }
}

}  // namespace
}  // namespace hone
