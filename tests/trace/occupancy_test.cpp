// Occupancy by hand: each limit alone, and what is not known.
#include "trace/occupancy.hpp"

#include <gtest/gtest.h>

namespace hone::trace {
namespace {

DeviceProperties h200() {
  DeviceProperties device;
  device.compute_major = 9;
  device.multiprocessors = 132;
  device.warp_size = 32;
  device.threads_per_multiprocessor = 2048;
  device.registers_per_multiprocessor = 65536;
  device.shared_bytes_per_multiprocessor = 233472;
  return device;
}

KernelLaunch launch(int32_t blocks, int32_t threads, int32_t registers = 32, int64_t shared = 0) {
  KernelLaunch launch;
  launch.grid = {blocks, 1, 1};
  launch.block = {threads, 1, 1};
  launch.registers_per_thread = registers;
  launch.dynamic_shared_bytes = shared;
  return launch;
}

TEST(Occupancy, TakesTheLeastOfItsLimits) {
  // 64 warps a multiprocessor: 8 blocks of 8 warps.
  EXPECT_EQ(resident_blocks(launch(1, 256), h200()), 8);
  // 32 slots for blocks of one warp each.
  EXPECT_EQ(resident_blocks(launch(1, 32), h200()), 32);
  // 128 registers a thread are 4096 a warp: 4 warps in each of four parts of 16384, 2 blocks of 8 warps.
  EXPECT_EQ(resident_blocks(launch(1, 256, 128), h200()), 2);
  // 72 registers are 2304 a warp: 7 a part, 28 in all (by the whole file it would be 28.4).
  EXPECT_EQ(resident_blocks(launch(1, 256, 72), h200()), 3);
  // 100 KiB and the driver's 1 KiB: twice in 228 KiB.
  EXPECT_EQ(resident_blocks(launch(1, 128, 32, 100 << 10), h200()), 2);
  // 115 KiB would fit twice in 230; the driver's share makes it once.
  EXPECT_EQ(resident_blocks(launch(1, 128, 32, 114 << 10), h200()), 1);
  EXPECT_EQ(resident_blocks(launch(1, 128, 32, 300 << 10), h200()), 0);
  EXPECT_EQ(resident_blocks(launch(1, 33), h200()), 32);
}

TEST(Occupancy, KnowsEarlierDevices) {
  DeviceProperties turing = h200();
  turing.compute_major = 7;
  turing.compute_minor = 5;
  turing.threads_per_multiprocessor = 1024;
  turing.shared_bytes_per_multiprocessor = 65536;
  EXPECT_EQ(resident_blocks(launch(1, 32), turing), 16);
  EXPECT_EQ(resident_blocks(launch(1, 64, 32, 32 << 10), turing), 2);  // nothing is kept by the driver
  turing.blocks_per_multiprocessor = 4;
  EXPECT_EQ(resident_blocks(launch(1, 32), turing), 4);
}

TEST(Occupancy, SpreadsTheGridOverTheDevice) {
  // 528 blocks are 4 on each of 132, of 8 that would fit.
  EXPECT_DOUBLE_EQ(blocks_per_multiprocessor(launch(528, 256), h200()), 4);
  EXPECT_DOUBLE_EQ(warps_per_multiprocessor(launch(528, 256), h200()), 32);
  EXPECT_DOUBLE_EQ(estimated_occupancy(launch(528, 256), h200()), 50);
  EXPECT_DOUBLE_EQ(estimated_occupancy(launch(1 << 20, 256), h200()), 100);
  EXPECT_DOUBLE_EQ(estimated_occupancy(launch(1 << 20, 256, 128), h200()), 25);
}

TEST(Occupancy, PrefersWhatWasRecorded) {
  KernelLaunch recorded = launch(528, 256);
  recorded.recorded_occupancy = 12.5;
  EXPECT_DOUBLE_EQ(estimated_occupancy(recorded, h200()), 12.5);
}

TEST(Occupancy, SaysWhenItCannotBeKnown) {
  EXPECT_EQ(estimated_occupancy(launch(528, 256), DeviceProperties{}), -1);
  EXPECT_EQ(estimated_occupancy(KernelLaunch{}, h200()), -1);
  EXPECT_EQ(blocks_per_multiprocessor(KernelLaunch{}, h200()), -1);
  EXPECT_EQ(warps_per_multiprocessor(launch(528, 0), h200()), -1);
  KernelLaunch wrong = launch(1, 1);
  wrong.grid = wrong.block = {2'147'483'647, 2'147'483'647, 2'147'483'647};
  EXPECT_EQ(estimated_occupancy(wrong, h200()), -1);
  wrong.grid = {-5, 1, 1};
  EXPECT_EQ(blocks_per_multiprocessor(wrong, h200()), -1);
}

}  // namespace
}  // namespace hone::trace
