// Step time breakdown: where steps end, what their time is counted as, and that it adds up.
#include "analysis/questions/steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "hone/error.hpp"
#include "support/random_trace.hpp"

namespace hone::analysis {
namespace {

using support::CopyDirection;
using support::HostKind;
using support::TraceBuilder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

StepBreakdown break_down(const trace::Trace& trace) { return break_down_steps(trace, find_steps(trace)); }

Time cost(const StepCost& step, StepCategory category) {
  return step.costs.at(static_cast<size_t>(category));
}

TEST(Steps, EveryCategoryGetsItsTimeByPriority) {
  TraceBuilder b;
  b.step("ProfilerStep#3", 100, 1100);
  b.host(HostKind::kRange, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 100, 200);
  b.op("aten::mm", 180, 700);                                           // 180..200 is still data loading
  b.api("cudaLaunchKernel", 300, 400, 1);                               // before the operator around it
  b.kernel("gemm", 350, 500, 1);                                        // before the call that launched it
  b.copy(CopyDirection::kHostToDevice, 8, 450, 600);                    // 500..600
  b.set(8, 580, 650);                                                   // 600..650
  b.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)", 640, 690);  // 650..690
  b.host(HostKind::kRange, "record_function around everything", 100, 1100);
  b.host(HostKind::kPython, "train.py(3): step", 100, 1100);
  b.host(HostKind::kOverhead, "Buffer Flush", 900, 950);
  b.host(HostKind::kDriverApi, "cuLaunchKernelEx", 800, 850);
  const StepBreakdown breakdown = break_down(b.build());
  ASSERT_EQ(breakdown.steps.size(), 1U);
  EXPECT_THAT(breakdown.steps[0].costs, ElementsAre(150, 100, 50, 40, 50 + 50, 100, 100 + 10, 350));
  EXPECT_EQ(breakdown.steps[0].overhead, 50);
  EXPECT_DOUBLE_EQ(breakdown.share(StepCategory::kKernel), 0.15);
  EXPECT_EQ(to_json(breakdown)["steps"][0]["costs"]["data_loading_ns"], 100);
}

TEST(Steps, LastUntilTheirWorkIsDone) {
  TraceBuilder b;
  b.api("cudaLaunchKernel", 10, 20, 9);
  b.kernel("before the steps", 30, 130, 9);
  b.step("ProfilerStep#0", 100, 200);
  b.api("cudaLaunchKernel", 110, 120, 1);
  b.kernel("a", 150, 260, 1);
  b.step("ProfilerStep#1", 200, 300);
  b.host(HostKind::kDriverApi, "cuLaunchKernelEx", 210, 220).correlation = 2;  // a launch like any other
  b.kernel("b", 260, 450, 2);
  b.step("ProfilerStep#2", 300, 500);
  b.api("cudaGraphLaunch", 310, 320, 3);
  b.kernel("c", 450, 460, 3);
  b.kernel("d", 460, 470, 3);
  const StepList list = find_steps(b.build());
  ASSERT_EQ(list.steps.size(), 3U);
  EXPECT_EQ(list.steps[0].span.start, 130);
  EXPECT_EQ(list.steps[0].span.end, 260);
  EXPECT_EQ(list.steps[1].span.end, 450);
  EXPECT_EQ(list.steps[2].span.start, 450);
  EXPECT_EQ(list.steps[2].span.end, 500);
  EXPECT_EQ(list.steps[2].device_events, 2);
  EXPECT_THAT(list.notes, IsEmpty());
}

TEST(Steps, OfOneThreadOnceEach) {
  TraceBuilder b;
  b.step("ProfilerStep#0", 100, 200);
  b.step("ProfilerStep#0", 120, 180);  // the same step as the GPU's timeline shows it
  b.step("ProfilerStep#1", 200, 300);
  b.on_thread(2).step("ProfilerStep#0", 90, 310);
  const StepList list = find_steps(b.build());
  EXPECT_EQ(list.steps.size(), 2U);
  EXPECT_THAT(list.notes, Contains(HasSubstr("1 steps of other threads")));
  EXPECT_THAT(list.notes, Contains(HasSubstr("1 steps that begin inside another")));
}

TEST(Steps, ATailWithoutItsDeviceEventsIsLeftOut) {
  const auto traced = [](int of_the_last) {
    TraceBuilder b;
    for (int step = 0; step < 4; ++step) {
      const Time start = 1000 * (step + 1);
      b.step("ProfilerStep#" + std::to_string(step), start, start + 1000);
      const int events = step == 3 ? 0 : step == 2 ? of_the_last : 5;
      for (int i = 0; i < events; ++i) {
        b.api("cudaLaunchKernel", start + i, start + i + 1, start + i);
        b.kernel("k", start + 10 * i, start + 10 * i + 5, start + i);
      }
    }
    return find_steps(b.build());
  };
  EXPECT_EQ(traced(5).steps.size(), 3U);
  EXPECT_EQ(traced(4).steps.size(), 3U);
  EXPECT_EQ(traced(3).steps.size(), 2U);
  EXPECT_THAT(traced(3).notes, Contains(HasSubstr("the last 2 of 4 steps were left out")));
}

TEST(Steps, WithoutStepsTheWholeTraceIsOne) {
  TraceBuilder b;
  b.kernel("only a kernel", 500, 700);
  const StepBreakdown breakdown = break_down(b.build());
  ASSERT_EQ(breakdown.steps.size(), 1U);
  EXPECT_FALSE(breakdown.announced);
  EXPECT_EQ(cost(breakdown.steps[0], StepCategory::kKernel), 200);
  EXPECT_EQ(length(breakdown.steps[0].step.span), 200);
  EXPECT_EQ(break_down(trace::Trace{}).total.mean, 0);
}

TEST(Steps, ARangeOfThemCanBeChosen) {
  TraceBuilder b;
  for (int step = 0; step < 5; ++step) b.step("step", 100 * (step + 1), 100 * (step + 2));
  const StepList all = find_steps(b.build());
  const StepList some = select_steps(all, 1, 3);
  ASSERT_EQ(some.steps.size(), 2U);
  EXPECT_EQ(window_of(some).start, 200);
  EXPECT_EQ(window_of(some).end, 400);
  EXPECT_EQ(select_steps(all, 3, 99).steps.size(), 2U);
  EXPECT_THROW(select_steps(all, 5, 9), Error);
  EXPECT_THROW(select_steps(all, 3, 3), Error);
}

TEST(Steps, CategoriesOfRandomTracesAddUpExactly) {
  base::Random random(4);
  for (int round = 0; round < 200; ++round) {
    const trace::Trace trace = support::random_trace(random, random.below(6));
    const StepBreakdown breakdown = break_down(trace);
    Time previous_end = std::numeric_limits<Time>::min();
    double means = 0;
    for (const base::Summary& category : breakdown.categories) means += category.mean;
    EXPECT_NEAR(means, breakdown.total.mean, 1e-9 * breakdown.total.mean);
    for (const StepCost& step : breakdown.steps) {
      const Time sum = std::accumulate(step.costs.begin(), step.costs.end(), Time{0});
      EXPECT_EQ(sum, length(step.step.span));
      for (const Time part : step.costs) EXPECT_GE(part, 0);
      EXPECT_GE(step.step.span.start, previous_end);
      EXPECT_GE(step.step.span.end, step.step.host.end);
      previous_end = step.step.span.end;
    }
  }
}

}  // namespace
}  // namespace hone::analysis
