// Threads that compute and threads that sleep.
#include "system/thread_counters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <memory>
#include <thread>

namespace hone::system {
namespace {

using ::testing::ElementsAre;

/// A thread that computes while it is told to.
class Worker {
 public:
  Worker() : thread_([this] { run(); }) {
    while (id_ == 0) std::this_thread::yield();
  }
  ~Worker() {
    stopped_ = true;
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  pid_t id() const { return id_; }
  /// Returns when it has computed for so long.
  void compute(double cpu_seconds) {
    wanted_ = cpu_seconds;
    while (wanted_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  void run() {
    id_ = ::gettid();
    while (!stopped_) {
      if (wanted_ <= 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      timespec start{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
      timespec now = start;
      while (static_cast<double>(now.tv_sec - start.tv_sec) +
                 1e-9 * static_cast<double>(now.tv_nsec - start.tv_nsec) <
             wanted_)
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
      wanted_ = 0;
    }
  }

  std::atomic<pid_t> id_ = 0;
  std::atomic<double> wanted_ = 0;
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

TEST(ThreadCounters, TellThreadsApart) {
  Worker busy;
  const Worker idle;
  const ThreadCounters counters;
  ASSERT_EQ(counters.names().front(), "CPU time");
  const auto place = [&](pid_t thread) {
    const auto& threads = counters.threads();
    const auto found = std::find(threads.begin(), threads.end(), thread);
    EXPECT_NE(found, threads.end());
    return static_cast<size_t>(found - threads.begin()) * counters.names().size();
  };
  const auto before = counters.read().values;
  busy.compute(0.05);
  const auto after = counters.read().values;
  const auto used = [&](pid_t thread) {
    return static_cast<double>(after[place(thread)] - before[place(thread)]);
  };
  EXPECT_GT(used(busy.id()), 0.03e9);
  EXPECT_LT(used(idle.id()), 0.02e9);
}

TEST(ThreadCounters, HaveHardwareCountersOrSayWhyNot) {
  const ThreadCounters counters;
  EXPECT_EQ(counters.names().size() < 4, !counters.missing().empty());
}

TEST(ThreadCounters, OfAThreadThatEndedDoNotFail) {
  auto gone = std::make_unique<Worker>();
  const ThreadCounters counters;
  gone.reset();
  EXPECT_EQ(counters.read().values.size(), counters.threads().size() * counters.names().size());
}

/// Readings of two counters of one thread, at 0, 100, 300 and 400, around a range from 180 to 220.
std::vector<int64_t> used(const std::vector<std::array<uint64_t, 2>>& values) {
  std::vector<CounterReading> readings;
  for (size_t i = 0; i < 4; ++i)
    readings.push_back({{values[i][0], values[i][1]}, {std::array{0, 100, 300, 400}[i]}});
  return used_in({180, 220, readings[0], readings[1], readings[2], readings[3]}, 0);
}

TEST(UsedIn, LeavesOutWhatReadingTook) {
  // It computed or span all the time, 2 instructions a ns beside the range and 3 in it.
  EXPECT_THAT(used({{0, 0}, {100, 200}, {300, 640}, {400, 840}}), ElementsAre(40, 120));
  // It slept until the range and after it.
  EXPECT_THAT(used({{0, 0}, {0, 0}, {30, 90}, {30, 90}}), ElementsAre(30, 90));
  // It was woken by the range, and span from then on.
  EXPECT_THAT(used({{0, 0}, {0, 0}, {120, 240}, {220, 440}}), ElementsAre(40, 80));
  EXPECT_THAT(used({{0, 0}, {0, 0}, {0, 0}, {0, 0}}), ElementsAre(0, 0));
}

TEST(UsedIn, IsNeitherNegativeNorLongerThanTheRange) {
  EXPECT_THAT(used({{0, 0}, {100, 0}, {210, 0}, {310, 0}}), ElementsAre(0, 0));
  EXPECT_THAT(used({{0, 0}, {100, 0}, {305, 0}, {405, 0}}), ElementsAre(40, 0));
  EXPECT_THAT(used({{50, 50}, {100, 100}, {0, 0}, {0, 0}}), ElementsAre(0, 0)) << "a thread that ended";
}

}  // namespace
}  // namespace hone::system
