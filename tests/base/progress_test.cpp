#include "base/progress.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "base/clock.hpp"
#include "base/version.hpp"

namespace hone::base {
namespace {

TEST(DurationText, ReadsWell) {
  EXPECT_EQ(duration_text(0.2), "0 s");
  EXPECT_EQ(duration_text(59.4), "59 s");
  EXPECT_EQ(duration_text(200), "3 min 20 s");
  EXPECT_EQ(duration_text(3600 + 300), "1 h 05 min");
  EXPECT_EQ(duration_text(-3), "0 s");
}

TEST(ProgressLine, SaysShareTimeLeftAndWhat) {
  EXPECT_EQ(progress_line({30, 90, "resnet50 torch"}, 80), " 25 %  1 min 30 s left  resnet50 torch");
  EXPECT_EQ(progress_line({30, 90, "resnet50 torch"}, 10).size(), 10u);
  EXPECT_EQ(progress_line({0, 0, "x"}, 80), "  0 %  0 s left  x");
  EXPECT_EQ(progress_line({12, std::numeric_limits<double>::infinity(), "x"}, 80), "12 s so far  x");
}

TEST(UtcDate, HasTheIsoForm) {
  const std::string date = utc_date();
  ASSERT_EQ(date.size(), 20u);
  EXPECT_EQ(date[10], 'T');
  EXPECT_EQ(date.back(), 'Z');
}

TEST(Version, NamesACommit) {
  EXPECT_FALSE(version().empty());
  EXPECT_FALSE(commit().empty());
}

}  // namespace
}  // namespace hone::base
