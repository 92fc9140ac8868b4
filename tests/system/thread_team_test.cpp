// Loops that a team shares: every share is run once, shares may meet, and callers do not mix.
#include "system/thread_team.hpp"

#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace hone::system {
namespace {

/// Counts how often each share of a loop by so many threads is run, over many loops.
void expect_each_share_once(int threads, int loops) {
  std::array<std::atomic<int>, 8> runs{};
  for (int loop = 1; loop <= loops; ++loop) {
#pragma omp parallel num_threads(threads)
    {
      EXPECT_EQ(omp_get_num_threads(), threads);
      runs.at(static_cast<size_t>(omp_get_thread_num())).fetch_add(1);
    }
    for (int i = 0; i < threads; ++i) ASSERT_EQ(runs.at(static_cast<size_t>(i)).load(), loop);
  }
}

TEST(ThreadTeam, RunsEachShareOnce) {
  const TeamScope team;
  // More threads than before, and fewer.
  for (const int threads : {2, 5, 1, 3, 8, 2}) expect_each_share_once(threads, 2000);
}

TEST(ThreadTeam, WakesThreadsThatSleep) {
  const TeamScope team;
  for (int i = 0; i < 5; ++i) {
    expect_each_share_once(3, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

TEST(ThreadTeam, LetsSharesMeet) {
  const TeamScope team;
  for (const int threads : {2, 4}) {
    std::vector<int> seen(static_cast<size_t>(threads), 0);
    for (int loop = 1; loop <= 200; ++loop) {
#pragma omp parallel num_threads(threads)
      {
        const int own = omp_get_thread_num();
        seen[static_cast<size_t>(own)] = loop;
#pragma omp barrier
        for (const int other : seen) EXPECT_EQ(other, loop);
#pragma omp barrier
      }
    }
  }
}

TEST(ThreadTeam, RunsInnerLoopsInOneThread) {
  const TeamScope team;
  std::atomic<int> inner{0};
#pragma omp parallel num_threads(3)
  {
    EXPECT_TRUE(omp_in_parallel());
    const std::thread::id outer = std::this_thread::get_id();
#pragma omp parallel num_threads(4)
    {
      EXPECT_EQ(omp_get_num_threads(), 1);
      EXPECT_EQ(omp_get_thread_num(), 0);
      EXPECT_EQ(std::this_thread::get_id(), outer);
      inner.fetch_add(1);
    }
    EXPECT_EQ(omp_get_num_threads(), 3);
  }
  EXPECT_EQ(inner.load(), 3);
  EXPECT_FALSE(omp_in_parallel());
}

TEST(ThreadTeam, SharesALoopInsideOfOneThatNobodyShares) {
  const TeamScope team;
  std::atomic<int> shares{0};
#pragma omp parallel num_threads(1)
  {
    EXPECT_FALSE(omp_in_parallel());
#pragma omp parallel num_threads(3)
    shares.fetch_add(omp_get_num_threads());
  }
  EXPECT_EQ(shares.load(), 9);
}

TEST(ThreadTeam, EachCallerHasItsOwn) {
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([i] {
      const TeamScope team;
      expect_each_share_once(2 + i % 3, 1000);
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(ThreadTeam, EndsWithItsScope) {
  {
    const TeamScope team;
    const TeamScope inner;
  }
  expect_each_share_once(2, 10);  // by libgomp
}

TEST(ThreadTeam, TakesTheShareOfAThreadThatComesLate) {
  // On one core, threads that wait for each other would take turns of milliseconds.
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &before) && CPU_COUNT(&one) == 0) CPU_SET(core, &one);
  }
  std::atomic<int> by_caller{0};
  std::thread([&] {
    ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
    const TeamScope team;
    const std::thread::id caller = std::this_thread::get_id();
    for (int loop = 0; loop < 1000; ++loop) {
#pragma omp parallel num_threads(2)
      {
        if (std::this_thread::get_id() == caller) by_caller.fetch_add(1);
      }
    }
  }).join();
  EXPECT_GT(by_caller.load(), 1500) << "of 2000 shares";
}

}  // namespace
}  // namespace hone::system
