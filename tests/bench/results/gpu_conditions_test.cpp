// Sums over samples of a GPU, and the owners of the processes on it.
#include "bench/results/gpu_conditions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::bench {
namespace {

using ::testing::ElementsAre;

system::GpuSample at_clock(int mhz, double seconds = 0) {
  system::GpuSample sample;
  sample.seconds = seconds;
  sample.sm_mhz = mhz;
  return sample;
}

TEST(ClockReasons, HaveTheirNames) {
  EXPECT_THAT(clock_reason_names(0x4 | 0x40), ElementsAre("SW power cap", "HW thermal slowdown"));
  EXPECT_TRUE(clock_reason_names(0).empty());
  EXPECT_EQ(clock_reason_names(~0ULL).size(), 9u);
}

TEST(GpuConditions, CompareTheHalvesOfTheClock) {
  GpuConditions gpu;
  for (const int mhz : {1980, 1980, 345}) gpu.add(at_clock(mhz), 0);
  EXPECT_FALSE(gpu.sm_clock_halves()) << "three samples are no two halves";
  for (const int mhz : {1800, 1785, 1785}) gpu.add(at_clock(mhz), 0);
  const auto halves = gpu.sm_clock_halves();
  ASSERT_TRUE(halves);
  EXPECT_EQ(halves->first_mhz, 1980);
  EXPECT_EQ(halves->second_mhz, 1785);
  EXPECT_NEAR(halves->change(), -0.0985, 1e-4);
}

TEST(GpuConditions, KnowNoClockWithoutSamplesOfIt) {
  GpuConditions gpu;
  for (int i = 0; i < 20; ++i) gpu.add({}, 0);
  EXPECT_FALSE(gpu.sm_clock_halves());
  EXPECT_TRUE(gpu.to_json()["sm_mhz"].is_null());
  EXPECT_EQ(gpu.to_json()["series"]["sm_mhz"].size(), 20u);
}

TEST(GpuConditions, StayBoundedAndForgetNoReason) {
  GpuConditions gpu;
  constexpr int kMany = 100'000;
  for (int i = 0; i < kMany; ++i) {
    system::GpuSample sample = at_clock(1000, i);
    if (i == 77'777) sample.clock_reasons = 0x20;
    gpu.add(sample, 0.5);
    ASSERT_LT(gpu.samples().size(), GpuConditions::kMostSamples);
  }
  EXPECT_EQ(gpu.taken(), kMany);
  EXPECT_GE(gpu.samples().size(), GpuConditions::kMostSamples / 4);
  EXPECT_EQ(gpu.clock_reasons(), 0x20u);
  EXPECT_EQ(gpu.to_json()["cost_ms"], 0.5);
  // The kept samples are evenly spread.
  const double step = gpu.samples()[1].seconds - gpu.samples()[0].seconds;
  for (size_t i = 1; i < gpu.samples().size(); ++i)
    ASSERT_EQ(gpu.samples()[i].seconds - gpu.samples()[i - 1].seconds, step) << i;
}

TEST(GpuConditions, HaveTheFieldsOfTheSchema) {
  GpuConditions gpu;
  gpu.add({.seconds = 0.01,
           .sm_mhz = 1980,
           .memory_mhz = 3201,
           .power_w = 250,
           .temperature_c = 40,
           .memory_used_bytes = 3'000'000,
           .utilization = 90,
           .clock_reasons = 0x4},
          1);
  gpu.saw_processes(1, 600'000'000);
  gpu.saw_processes(0, 500'000'000);
  const Json json = gpu.to_json();
  for (const char* name :
       {"sm_mhz", "memory_mhz", "power_w", "temperature_c", "memory_used_mb", "utilization_percent"}) {
    EXPECT_TRUE(json[name].contains("p50")) << name;
    EXPECT_EQ(json["series"][name].size(), 1u) << name;
  }
  EXPECT_EQ(json["memory_used_mb"]["max"], 3);
  EXPECT_THAT(json["series"]["seconds"], ElementsAre(0.01));
  EXPECT_THAT(json["series"]["clock_reasons"], ElementsAre(4));
  EXPECT_THAT(json["clock_reasons"], ElementsAre("SW power cap"));
  EXPECT_EQ(json["other_processes"], 1);
  EXPECT_EQ(json["process_memory_mb"], 600);
  EXPECT_EQ(json["taken"], 1);
}

TEST(GpuConditions, SayWhyNothingIsKnown) {
  GpuConditions gpu;
  gpu.unknown = "no library";
  EXPECT_EQ(gpu.to_json(), (Json{{"unknown", "no library"}}));
}

/// Workers 10 and 11, of which 10 is measured.
GpuTenants tenants_of(const std::vector<system::GpuProcess>& listed) {
  return count_tenants(
      listed, [](pid_t pid) { return pid == 10 || pid == 11; }, [](pid_t pid) { return pid == 10; }, 2);
}

TEST(CountTenants, TellsOwnWorkersFromOthers) {
  const GpuTenants tenants = tenants_of({{10, 500}, {11, 600}, {99, 700}});
  EXPECT_EQ(tenants.others, 1);
  EXPECT_EQ(tenants.worker_bytes, 500);
}

TEST(CountTenants, NeedsNoMemoryFigures) {
  const GpuTenants tenants = tenants_of({{10, std::nullopt}, {11, std::nullopt}});
  EXPECT_EQ(tenants.others, 0);
  EXPECT_EQ(tenants.worker_bytes, std::nullopt);
}

TEST(CountTenants, CountsWhereIdsAreOfAnotherNamespace) {
  EXPECT_EQ(tenants_of({{70010, 500}, {70011, 600}}).others, 0);
  EXPECT_EQ(tenants_of({{70010, 500}, {70011, 600}, {80000, 1}}).others, 1);
}

TEST(CountTenants, KnowsNothingFromAListThatHidesProcesses) {
  EXPECT_EQ(tenants_of({}).others, std::nullopt);
  EXPECT_EQ(tenants_of({{70010, 500}}).others, std::nullopt);
}

}  // namespace
}  // namespace hone::bench
