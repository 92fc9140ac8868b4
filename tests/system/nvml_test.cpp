// NVML as a library that says what a test wants: everything, parts of it, nothing, or errors.
#include "system/nvml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "system/nvml_fixture.hpp"

namespace hone::system {
namespace {

using ::testing::HasSubstr;

/// The sentence with which opening fails.
std::string failure(const std::string& library, const std::string& bus_id = "") {
  try {
    const Nvml nvml(library, bus_id);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    return error.what();
  }
  return "no failure";
}

TEST(Nvml, CountsGpusFromZero) {
  EXPECT_EQ(Nvml(kFakeNvml, 0U).identity().uuid, "GPU-1");
  EXPECT_THROW(Nvml(kFakeNvml, 1U), Error);
}

TEST(Nvml, TellsWhatAGpuIs) {
  const GpuIdentity gpu = Nvml(kFakeNvml, "0000:1b:00.0").identity();
  EXPECT_EQ(gpu.name, "Fake GPU");
  EXPECT_EQ(gpu.uuid, "GPU-1");
  EXPECT_EQ(gpu.bus_id, "00000000:1B:00.0");
  EXPECT_EQ(gpu.driver, "580.1");
  EXPECT_EQ(gpu.memory_bytes, 141'000'000'000);
  EXPECT_EQ(gpu.power_limit_w, 700);
  EXPECT_EQ(gpu.max_sm_mhz, 1980);
  EXPECT_EQ(to_json(gpu)["memory_mb"], 141'000);
}

TEST(Nvml, Samples) {
  const FakeGpu fake(
      "sm=1755 memory=2619 power=312500 temperature=61 used=3000000 utilization=88 reasons=0x44");
  const GpuSample sample = Nvml(kFakeNvml, "").sample();
  EXPECT_EQ(sample.sm_mhz, 1755);
  EXPECT_EQ(sample.memory_mhz, 2619);
  EXPECT_EQ(sample.power_w, 312.5);
  EXPECT_EQ(sample.temperature_c, 61);
  EXPECT_EQ(sample.memory_used_bytes, 3'000'000);
  EXPECT_EQ(sample.utilization, 88);
  EXPECT_EQ(sample.clock_reasons, 0x44u);
}

TEST(Nvml, ListsProcesses) {
  const Nvml nvml(kFakeNvml, "");
  const FakeGpu fake("processes=12:1000,13");
  const auto processes = nvml.processes();
  ASSERT_TRUE(processes);
  ASSERT_EQ(processes->size(), 2u);
  EXPECT_EQ((*processes)[0].pid, 12);
  EXPECT_EQ((*processes)[0].memory_bytes, 1000);
  EXPECT_EQ((*processes)[1].pid, 13);
  EXPECT_EQ((*processes)[1].memory_bytes, std::nullopt);
}

TEST(Nvml, ListsMoreProcessesThanExpected) {
  std::string many = "processes=1";
  for (int i = 2; i <= 30; ++i) many += "," + std::to_string(i);
  const FakeGpu fake(many);
  const auto processes = Nvml(kFakeNvml, "").processes();
  ASSERT_TRUE(processes);
  EXPECT_EQ(processes->size(), 30u);
  EXPECT_EQ(processes->back().pid, 30);
}

TEST(Nvml, LeavesOutWhatFails) {
  const FakeGpu fake(
      "sm_error=3 power_error=3 temperature_error=15 used_error=3 utilization_error=3 reasons_error=3 "
      "processes_error=4");
  const Nvml nvml(kFakeNvml, "");
  const GpuSample sample = nvml.sample();
  EXPECT_EQ(sample.sm_mhz, std::nullopt);
  EXPECT_EQ(sample.memory_mhz, 3201);
  EXPECT_EQ(sample.power_w, std::nullopt);
  EXPECT_EQ(sample.temperature_c, std::nullopt);
  EXPECT_EQ(sample.memory_used_bytes, std::nullopt);
  EXPECT_EQ(sample.utilization, std::nullopt);
  EXPECT_EQ(sample.clock_reasons, std::nullopt);
  EXPECT_EQ(nvml.processes(), std::nullopt);
}

TEST(Nvml, DoesWithoutFunctionsThatOldDriversLack) {
  const FakeGpu fake("sm=1410 reasons=0x8");
  const Nvml nvml(kOldNvml, "");
  EXPECT_EQ(nvml.sample().sm_mhz, 1410);
  EXPECT_EQ(nvml.sample().power_w, std::nullopt);
  EXPECT_EQ(nvml.sample().clock_reasons, 8u) << "by its old name";
  EXPECT_EQ(nvml.processes(), std::nullopt);
  EXPECT_EQ(nvml.identity().name, "");
  EXPECT_TRUE(to_json(nvml.identity())["memory_mb"].is_null());
}

TEST(Nvml, SaysInOneSentenceWhatIsMissing) {
  EXPECT_THAT(failure("/no/such/libnvidia-ml.so.1"), HasSubstr("NVML cannot be loaded: /no/such"));
  EXPECT_THAT(failure("libz.so.1"), HasSubstr("functions are missing"));
  EXPECT_THAT(failure(kFakeNvml, "0000:2c:00.0"), HasSubstr("does not find the GPU 0000:2c:00.0: Not Found"));
  {
    const FakeGpu fake("init_error=9");
    EXPECT_EQ(failure(kFakeNvml), "NVML does not start: Some Reason");
    EXPECT_EQ(failure(kOldNvml), "NVML does not start: error 9");
  }
  const FakeGpu fake("handle_error=15");
  EXPECT_EQ(failure(kFakeNvml), "NVML does not find the GPU 0: Some Reason");
}

TEST(Nvml, IsChosenByTheEnvironment) {
  ::unsetenv("HONE_NVML");
  EXPECT_EQ(Nvml::library_path(), "libnvidia-ml.so.1");
  ::setenv("HONE_NVML", "/some/where", 1);
  EXPECT_EQ(Nvml::library_path(), "/some/where");
  ::unsetenv("HONE_NVML");
}

}  // namespace
}  // namespace hone::system
