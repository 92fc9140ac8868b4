// Lines of progress where standard error is no terminal.
#include "cli/progress_display.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hone::cli {
namespace {

TEST(ProgressDisplay, LinesOfAPipeAreWhole) {
  const std::string doing = "calibrating " + std::string(300, 'n');
  ::testing::internal::CaptureStderr();
  ProgressDisplay(0).show({30, 90, doing});
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), " 25 %  1 min 30 s left  " + doing + "\n");
}

}  // namespace
}  // namespace hone::cli
