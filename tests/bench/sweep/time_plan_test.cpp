// How long a sweep still takes.
#include "bench/sweep/time_plan.hpp"

#include <gtest/gtest.h>

namespace hone::bench {
namespace {

TEST(TimePlan, CountsWhatIsLeft) {
  TimePlan plan(2, 3);
  const double first = plan.left_seconds();
  EXPECT_GT(first, 2 * 3);
  plan.prepared(1);
  plan.prepared(1);
  EXPECT_DOUBLE_EQ(plan.left_seconds(), 2 * 3);
  plan.measured(2);
  EXPECT_DOUBLE_EQ(plan.left_seconds(), 4);
  plan.measured(1);
  plan.finished(3);
  EXPECT_DOUBLE_EQ(plan.left_seconds(), 3);
  plan.finished(0);
  EXPECT_DOUBLE_EQ(plan.left_seconds(), 0);
}

TEST(TimePlan, NeverGrows) {
  TimePlan plan(3, 3);
  const double first = plan.left_seconds();
  plan.prepared(100);
  EXPECT_LE(plan.left_seconds(), first);
}

}  // namespace
}  // namespace hone::bench
