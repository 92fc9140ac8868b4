// Signals that ask to end: several at once are one wish, another one later ends the program at once.
#include "system/interruption.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace hone::system {
namespace {

constexpr int kInOrder = 42;

/// Ends in order when the signals before were only noted.
[[noreturn]] void end_in_order(int signal) {
  std::_Exit(interruption() && interrupting_signal() == signal ? kInOrder : 1);
}

void raise_twice(int signal, std::chrono::milliseconds pause) {
  const Interruptible interruptible;
  std::raise(signal);
  std::this_thread::sleep_for(pause);
  std::raise(signal);
  end_in_order(signal);
}

// Signals change the whole process, so each case has one of its own.
TEST(InterruptionDeathTest, TakesSignalsThatComeTogetherForOneWish) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT})
    EXPECT_EXIT(raise_twice(signal, std::chrono::milliseconds(0)), ::testing::ExitedWithCode(kInOrder), "")
        << signal;
}

TEST(InterruptionDeathTest, EndsAtOnceWhenASignalIsRepeatedLater) {
  EXPECT_EXIT(raise_twice(SIGTERM, std::chrono::milliseconds(1100)), ::testing::KilledBySignal(SIGTERM), "");
}

TEST(InterruptionDeathTest, IsNotEndedByAPipeThatStaysClosed) {
  EXPECT_EXIT(raise_twice(SIGPIPE, std::chrono::milliseconds(1100)), ::testing::ExitedWithCode(kInOrder), "");
}

}  // namespace
}  // namespace hone::system
