// Records of the GPU and the host become times on the host's clock: no GPU is needed.
#include "device/cuda/plugin/watch/watch_times.hpp"

#include <gtest/gtest.h>

namespace hone::device::cuda {
namespace {

using base::DeviceWork;

DeviceWork work(int64_t start, int64_t end, int64_t bytes = 0) {
  return {.start_ns = start, .end_ns = end, .bytes = bytes};
}

TEST(WatchTimes, DrawsALineThroughTwoReadings) {
  // The GPU's clock goes 1 us in 100 ms slower.
  const ClockReading first{1'000, 5'000'000, 500};
  const ClockReading last{1'000 + 100'000'000, 5'000'000 + 100'001'000, 500};
  EXPECT_EQ(host_time(first, last, 1'000), 5'000'000);
  EXPECT_EQ(host_time(first, last, 1'000 + 100'000'000), 105'001'000);
  EXPECT_EQ(host_time(first, last, 1'000 + 50'000'000), 55'000'500);
}

TEST(WatchTimes, TrustsNoRateOfReadingsCloseTogether) {
  const ClockReading first{1'000, 5'000'000, 500};
  const ClockReading last{1'000 + 1'000'000, 5'000'000 + 1'001'000, 500};
  EXPECT_EQ(host_time(first, last, 1'000 + 500'000), 5'500'000);
}

TEST(WatchTimes, CountsKernelsFromTheEndOfTheOneAhead) {
  std::vector<DeviceWork> kernels = {work(100, 200), work(150, 260), work(270, 300)};
  EXPECT_EQ(put_in_line(kernels), 50);
  EXPECT_EQ(kernels[0].start_ns, 100);
  EXPECT_EQ(kernels[1].start_ns, 200);
  EXPECT_EQ(kernels[1].end_ns, 260);
  EXPECT_EQ(kernels[2].start_ns, 270) << "a gap stays one";
}

TEST(WatchTimes, LetsNoKernelEndBeforeItBegins) {
  // A library's kernel, bounded by the beginning of a kernel that was let in early.
  std::vector<DeviceWork> kernels = {work(100, 200), work(200, 190)};
  put_in_line(kernels);
  EXPECT_EQ(kernels[1].start_ns, 200);
  EXPECT_EQ(kernels[1].end_ns, 200);
}

TEST(WatchTimes, GivesCopiesTheirShareOfTheWait) {
  std::vector<DeviceWork> copies = {work(0, 0, 3000), work(0, 0, 1000)};
  place_copies(copies, 10'000, 24'000, 6'000);
  EXPECT_EQ(copies[0].start_ns, 13'000) << "half of the latency before";
  EXPECT_EQ(copies[0].end_ns, 19'000);
  EXPECT_EQ(copies[1].start_ns, 19'000);
  EXPECT_EQ(copies[1].end_ns, 21'000) << "and half of it after";
}

TEST(WatchTimes, LeavesSomethingOfACopyThatTookNoLongerThanAnEmptyOne) {
  std::vector<DeviceWork> copies = {work(0, 0, 8)};
  place_copies(copies, 10'000, 15'000, 6'000);
  EXPECT_EQ(copies[0].end_ns - copies[0].start_ns, 1);
}

}  // namespace
}  // namespace hone::device::cuda
