// Threads that compute and threads that sleep.
#include "bench/thread_counters.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <memory>
#include <thread>

namespace hone::bench {
namespace {

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
  const auto before = counters.read();
  busy.compute(0.05);
  const auto after = counters.read();
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
  EXPECT_EQ(counters.read().size(), counters.threads().size() * counters.names().size());
}

}  // namespace
}  // namespace hone::bench
