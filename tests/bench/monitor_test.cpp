// Processor time of others: what rounds add up to, and how finely one's own is read.
#include "bench/monitor.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>
#include <string>

#include "base/clock.hpp"

namespace hone::bench {
namespace {

/// Of one core: `busy_s` of it in the ticks of /proc/stat, `own_s` of the worker.
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

TEST(CpuCounters, TellUsableCoresFromTheOthers) {
  const double tick = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  const std::string all = "cpu  1000 20 300 9000 4 5 6 70 0 0\n";
  const std::string cores =
      "cpu0 400 10 100 4000 1 1 2 30 0 0\ncpu1 500 10 150 4000 2 2 2 20 0 0\ncpu12 100 0 50 1000 1 2 2 20 0 "
      "0\n";
  const auto usable = [](int core) { return core != 1; };
  std::istringstream stat(all + cores + "intr 1\n");
  const CpuCounters counters = parse_cpu_counters(stat, usable);
  EXPECT_NEAR(counters.busy_s, (513 + 154) * tick, 1e-9);
  EXPECT_NEAR(counters.elsewhere_s, 664 * tick, 1e-9);
  EXPECT_NEAR(counters.steal_s, 70 * tick, 1e-9);
  std::istringstream sums(all);
  EXPECT_NEAR(parse_cpu_counters(sums, usable).busy_s, 1331 * tick, 1e-9) << "where cores are not told apart";
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

}  // namespace
}  // namespace hone::bench
