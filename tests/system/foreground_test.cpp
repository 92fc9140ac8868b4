#include "system/foreground.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "system/interruption.hpp"
#include "system/scratch.hpp"

namespace hone::system {
namespace {

/// A folder that holds a program, a file that is none, and a folder.
class WhyNotStartable : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"program", "text"}) std::ofstream(file(name)) << "#!/bin/sh\n";
    ::chmod(file("program").c_str(), 0755);
    scratch_.make_folder("folder");
    ::setenv("PATH", ("/no/such:" + file("folder") + ":" + scratch_.folder().string()).c_str(), 1);
  }
  void TearDown() override { ::setenv("PATH", path_.c_str(), 1); }
  std::string file(const std::string& name) const { return scratch_.folder() / name; }

 private:
  Scratch scratch_;
  std::string path_ = std::getenv("PATH");
};

TEST_F(WhyNotStartable, SaysWhatAFileIs) {
  EXPECT_EQ(why_not_startable(file("program")), "");
  EXPECT_EQ(why_not_startable(file("text")), "it is not executable");
  EXPECT_EQ(why_not_startable(file("folder")), "it is a folder");
  EXPECT_EQ(why_not_startable(file("missing")), "no such program");
  EXPECT_EQ(why_not_startable(file("text/below")), "no such program");
}

TEST_F(WhyNotStartable, SearchesThePath) {
  EXPECT_EQ(why_not_startable("program"), "");
  EXPECT_EQ(why_not_startable("text"), "it is not executable");
  // A shell says of a folder in PATH that there is no such command.
  EXPECT_EQ(why_not_startable("folder"), "no such program");
  EXPECT_EQ(why_not_startable("missing"), "no such program");
}

TEST(RunInForeground, TellsHowAProgramEnded) {
  EXPECT_EQ(run_in_foreground({"sh", "-c", "exit 3"}).exit_code, 3);
  const ForegroundEnd killed = run_in_foreground({"sh", "-c", "kill -TERM $$"});
  EXPECT_EQ(killed.exit_code, 128 + SIGTERM);
  EXPECT_EQ(killed.passed_on, 0);
}

TEST(RunInForeground, PassesSignalsOnAndPutsTheirHandlersBack) {
  struct sigaction before {};
  struct sigaction after {};
  ::sigaction(SIGTERM, nullptr, &before);
  const ForegroundEnd end =
      run_in_foreground({"sh", "-c", "trap 'kill $!; exit 5' TERM; sleep 20 & kill -TERM $PPID; wait"});
  ::sigaction(SIGTERM, nullptr, &after);
  EXPECT_EQ(end.exit_code, 5);
  EXPECT_EQ(end.passed_on, SIGTERM);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
  EXPECT_FALSE(interruption());
}

/// As `kill -INT` does; Ctrl-C of a terminal reaches the program by itself.
TEST(RunInForeground, PassesOnAnInterruptOfAnotherProcess) {
  const ForegroundEnd end =
      run_in_foreground({"sh", "-c", "trap 'kill $!; exit 6' INT; sleep 20 & kill -INT $PPID; wait"});
  EXPECT_EQ(end.exit_code, 6);
  EXPECT_EQ(end.passed_on, SIGINT);
  EXPECT_FALSE(interruption());
}

}  // namespace
}  // namespace hone::system
