// Processor time of others: what rounds add up to, and how finely one's own is read.
#include "system/monitor.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "base/clock.hpp"
#include "system/busy_threads.hpp"
#include "system/scratch.hpp"

namespace hone::system {
namespace {

/// A round on one core: `busy_s` of it in the ticks of /proc/stat, `own_s` of the worker.
void add_round(double busy_s, double own_s, Interference* seen) {
  CpuCounters after;
  after.busy_s = busy_s;
  after.own_s = own_s;
  after.wall_s = 0.02;
  seen->add({}, after, 1);
}

/// A round that ends just before a tick lacks the one that the next has too many.
TEST(Interference, TicksOfManyRoundsEvenOut) {
  Interference seen;
  for (int round = 0; round < 10; ++round) add_round(round % 2 == 0 ? 0.01 : 0.03, 0.02, &seen);
  EXPECT_NEAR(seen.other_s, 0, 1e-9);
  EXPECT_NEAR(seen.other_share(), 0, 1e-9);
  add_round(0.01, 0.02, &seen);
  EXPECT_EQ(seen.other_share(), 0) << "a share is never negative";
}

TEST(CpuCounters, TellNearCoresFromTheOthers) {
  const double tick = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  const std::string all = "cpu  1000 20 300 9000 4 5 6 70 0 0\n";
  const std::string cores =
      "cpu0 400 10 100 4000 1 1 2 30 0 0\ncpu1 500 10 150 4000 2 2 2 20 0 0\ncpu12 100 0 50 1000 1 2 2 20 0 "
      "0\n";
  std::istringstream stat(all + cores + "intr 1\n");
  const CpuCounters counters = parse_cpu_counters(stat, {0, 12});
  EXPECT_NEAR(counters.busy_s, 1331 * tick, 1e-9);
  EXPECT_NEAR(counters.near_s, (513 + 154) * tick, 1e-9);
  EXPECT_NEAR(counters.steal_s, 50 * tick, 1e-9);
  std::istringstream sums(all);
  const CpuCounters apart = parse_cpu_counters(sums, {0, 12});
  EXPECT_NEAR(apart.near_s, 1331 * tick, 1e-9) << "where cores are not told apart";
  EXPECT_NEAR(apart.steal_s, 70 * tick, 1e-9);
  std::istringstream again(all + cores);
  EXPECT_NEAR(parse_cpu_counters(again, {}).near_s, 1331 * tick, 1e-9) << "where nobody knows which are near";
}

TEST(CpuCounters, ReadListsOfTheKernel) {
  EXPECT_EQ(parse_cpu_list("0-2,8"), (std::set<int>{0, 1, 2, 8}));
  EXPECT_EQ(parse_cpu_list("5,37"), (std::set<int>{5, 37}));
  EXPECT_EQ(parse_cpu_list(""), std::set<int>{});
}

TEST(AvailableMemory, IsWhatTheControlGroupLeaves) {
  const Scratch group;
  const int64_t machine = available_memory(group.folder());
  EXPECT_GT(machine, 0);
  const auto write = [&](const char* file, const std::string& text) {
    std::ofstream(group.folder() / file) << text;
  };
  write("memory.current", "700000\n");
  write("memory.max", "max\n");
  EXPECT_NEAR(static_cast<double>(available_memory(group.folder())), static_cast<double>(machine), 0.2e9);
  write("memory.max", "1000000\n");
  EXPECT_EQ(available_memory(group.folder()), 300000);
  write("memory.stat", "anon 1\ninactive_file 40000\nactive_file 9000\nslab_reclaimable 1000\n");
  EXPECT_EQ(available_memory(group.folder()), 350000);
  write("memory.current", "1200000\n");
  EXPECT_EQ(available_memory(group.folder()), 1) << "0 is unknown";
}

TEST(Interference, TakesOwnTimeOffNearCoresToo) {
  CpuCounters after;
  after.busy_s = 5;
  after.near_s = 2;
  after.own_s = 1.5;
  after.wall_s = 1;
  Interference seen;
  seen.add({}, after, 2);
  EXPECT_NEAR(seen.other_share(), 3.5 / 2, 1e-9);
  EXPECT_NEAR(seen.near_share(), 0.5 / 2, 1e-9);
}

TEST(CpuCounters, KnowOwnTimeFinerThanTicks) {
  const CpuCounters before = read_cpu_counters(::getpid());
  const auto start = base::Clock::now();
  while (base::seconds_since(start) < 1e-3) {
  }
  const double used = read_cpu_counters(::getpid()).own_s - before.own_s;
  EXPECT_GT(used, 0);
  EXPECT_LT(used, 0.009) << "two times the millisecond, as worker and as this process, and less than a tick";
}

TEST(CpuCounters, CountBusyThreadsAsOwn) {
  const BusyThreads busy(1);
  const auto own = [&] { return read_cpu_counters(kNoWorker, busy.pids()).own_s; };
  const double before = own();
  const double without = read_cpu_counters(kNoWorker).own_s;
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_GT(own() - before, read_cpu_counters(kNoWorker).own_s - without + 0.01);
}

}  // namespace
}  // namespace hone::system
