// The thread that samples: how often, beside whom, and where there is nothing to sample.
#include "bench/sweep/gpu_monitor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "system/nvml_fixture.hpp"

namespace hone::bench {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr GpuMonitor::Timing kQuick{.first = 1ms, .interval = 2ms};

TEST(GpuMonitor, SamplesWhileItWatches) {
  const system::FakeGpu fake("sm=1700 processes=1");
  GpuMonitor monitor(system::kFakeNvml, kQuick);
  EXPECT_FALSE(monitor.identity()) << "before a worker has a context there is nothing to watch";
  monitor.add_worker(::getpid(), "0000:1b:00.0");
  EXPECT_EQ(monitor.identity()->name, "Fake GPU");
  GpuConditions gpu;
  const auto start = base::Clock::now();
  {
    const GpuWatch watch(&monitor, &gpu, ::getpid(), start);
    std::this_thread::sleep_for(100ms);
  }
  const int64_t taken = gpu.taken();
  // At most one each interval, the first and the last; on a busy machine fewer, but several.
  EXPECT_GE(taken, 4);
  EXPECT_LE(taken, 60);
  EXPECT_EQ(gpu.samples().front().sm_mhz, 1700);
  EXPECT_GT(gpu.samples().back().seconds, gpu.samples().front().seconds);
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(gpu.taken(), taken) << "nothing samples between rounds";
}

TEST(GpuMonitor, TakesOneSampleOfAShortRound) {
  // On a busy machine no round is short compared with the usual interval.
  GpuMonitor monitor(system::kFakeNvml, {.first = 1h, .interval = 1h});
  monitor.add_worker(::getpid(), "");
  GpuConditions gpu;
  for (int round = 0; round < 3; ++round)
    const GpuWatch watch(&monitor, &gpu, ::getpid(), base::Clock::now());
  EXPECT_EQ(gpu.taken(), 3);
}

TEST(GpuMonitor, CountsProcessesBesideTheWorkers) {
  // This process stands for a worker; the parent of all is none.
  const std::string own = std::to_string(::getpid());
  GpuMonitor monitor(system::kFakeNvml);
  monitor.add_worker(::getpid(), "");
  GpuConditions gpu;
  {
    const system::FakeGpu fake("processes=" + own + ":123456789");
    const GpuWatch watch(&monitor, &gpu, ::getpid(), base::Clock::now());
  }
  EXPECT_EQ(gpu.other_processes, 0);
  EXPECT_EQ(gpu.process_memory_bytes, 123456789);
  {
    const system::FakeGpu fake("processes=" + own + ":5,1:7");
    const GpuWatch watch(&monitor, &gpu, ::getpid(), base::Clock::now());
  }
  EXPECT_EQ(gpu.other_processes, 1);
  EXPECT_EQ(gpu.process_memory_bytes, 123456789);
}

TEST(GpuMonitor, KeepsOfOtherWorkOnlyWhatDisturbsIt) {
  const system::FakeGpu fake("reasons=0x40 processes=" + std::to_string(::getpid()) + ":5,1:7");
  GpuMonitor monitor(system::kFakeNvml);
  monitor.add_worker(::getpid(), "");
  GpuConditions gpu;
  { const GpuWatch watch(&monitor, &gpu, ::getpid(), base::Clock::now(), GpuWatch::Scope::kDisturbances); }
  EXPECT_EQ(gpu.other_processes, 1);
  EXPECT_EQ(gpu.clock_reasons(), 0x40U);
  EXPECT_EQ(gpu.taken(), 0);
  EXPECT_FALSE(gpu.process_memory_bytes);
}

TEST(GpuMonitor, DoesNotCountAWorkerThatHasJustEnded) {
  const system::FakeGpu fake("processes=999999," + std::to_string(::getpid()));
  GpuMonitor monitor(system::kFakeNvml);
  monitor.add_worker(999999, "");
  monitor.remove_worker(999999);
  monitor.add_worker(::getpid(), "");
  GpuConditions gpu;
  { const GpuWatch watch(&monitor, &gpu, ::getpid(), base::Clock::now()); }
  EXPECT_EQ(gpu.other_processes, 0);
}

TEST(GpuMonitor, SaysWhyItWatchesNothing) {
  GpuMonitor monitor("/no/such/library.so", kQuick);
  monitor.add_worker(1, "");
  EXPECT_FALSE(monitor.identity());
  GpuConditions gpu;
  { const GpuWatch watch(&monitor, &gpu, 1, base::Clock::now()); }
  EXPECT_EQ(gpu.taken(), 0);
  EXPECT_THAT(gpu.unknown, HasSubstr("/no/such/library.so"));
}

TEST(GpuMonitor, IsNotThereOnTheCpu) {
  GpuConditions gpu;
  { const GpuWatch watch(nullptr, &gpu, 1, base::Clock::now()); }
  EXPECT_EQ(gpu.taken(), 0);
  EXPECT_EQ(gpu.unknown, "");
}

}  // namespace
}  // namespace hone::bench
