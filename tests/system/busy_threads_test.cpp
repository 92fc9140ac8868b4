// Busy threads use processor time, and are gone with what started them, however that ends.
#include "system/busy_threads.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "base/clock.hpp"
#include "system/monitor.hpp"

namespace hone::system {
namespace {

/// Gone, or a zombie that waits for somebody to ask how it ended.
bool ended(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("State:", 0) == 0) return line.find('Z') != std::string::npos;
  }
  return true;
}

template <class Condition>
bool holds_soon(const Condition& condition) {
  const auto start = base::Clock::now();
  while (!condition() && base::seconds_since(start) < 20)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return condition();
}

TEST(BusyThreads, UseProcessorTimeUntilTheyAreLetGo) {
  std::vector<pid_t> pids;
  {
    const BusyThreads busy(2);
    pids.assign(busy.pids().begin(), busy.pids().end());
    ASSERT_EQ(pids.size(), 2U);
    for (const pid_t& pid : pids) {
      const auto used = [&] {
        return read_cpu_counters(kNoWorker, {&pid, 1}).own_s - read_cpu_counters(kNoWorker).own_s;
      };
      EXPECT_TRUE(holds_soon([&] { return used() > 0.02; }));
    }
  }
  for (const pid_t pid : pids) EXPECT_EQ(::kill(pid, 0), -1);
}

TEST(BusyThreads, MayBeNone) { EXPECT_TRUE(BusyThreads(0).pids().empty()); }

TEST(BusyThreads, EndWithAProcessThatIsKilled) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    const BusyThreads busy(1);
    const pid_t pid = busy.pids().front();
    if (::write(pipe[1], &pid, sizeof(pid)) != sizeof(pid)) ::_exit(1);
    for (;;) ::pause();
  }
  ::close(pipe[1]);
  pid_t pid = 0;
  ASSERT_EQ(::read(pipe[0], &pid, sizeof(pid)), static_cast<ssize_t>(sizeof(pid)));
  EXPECT_FALSE(ended(pid));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_TRUE(holds_soon([&] { return ended(pid); }));
  char byte = 0;
  EXPECT_EQ(::read(pipe[0], &byte, 1), 0) << "it holds no copy of a pipe";
  ::close(pipe[0]);
}

}  // namespace
}  // namespace hone::system
