// The cost of recording is reported only if the runs show it, and by the trace as when it was recorded.
#include "trace/recording_cost.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace hone::trace {
namespace {

std::string told(const std::vector<double>& plain, const std::vector<double>& recorded) {
  Trace trace;
  describe_cost(trace, base::summarize(plain), base::summarize(recorded));
  const auto cost = RecordingCost::of(trace);
  return cost ? cost->text : "";
}

TEST(RecordingCost, IsTheRatioOfMediansThatDiffer) {
  EXPECT_EQ(told(std::vector<double>(6, 2), std::vector<double>(6, 3)), "+50.0 %");
  EXPECT_EQ(told(std::vector<double>(6, 2), std::vector<double>(6, 1)), "-50.0 %");
}

TEST(RecordingCost, IsNoDifferenceWhereIntervalsOverlap) {
  EXPECT_EQ(told({1, 2, 3, 4, 5, 6}, {2, 3, 4, 5, 6, 7}), "no difference beyond noise");
  EXPECT_EQ(told({2, 3, 4, 5, 6, 7}, {1, 2, 3, 4, 5, 6}), "no difference beyond noise");
}

TEST(RecordingCost, IsNotToldFromFiveRuns) {
  EXPECT_EQ(told(std::vector<double>(5, 2), std::vector<double>(50, 3)), "too few runs to tell");
  EXPECT_EQ(told(std::vector<double>(50, 2), std::vector<double>(5, 3)), "too few runs to tell");
}

TEST(RecordingCost, OfEarlierTracesIsSaidWhereItCanBeOne) {
  struct Case {
    const char* plain;
    const char* recorded;
    const char* text;
  };
  for (const Case& c : {Case{"2.0", "3.0", "+50.0 %"}, Case{"3.0", "2.0", "no difference that can be told"},
                        Case{"2.0", "2.0", "no difference that can be told"},
                        Case{"2.0", "2.0001", "no difference that can be told"}}) {
    Trace trace;
    trace.metadata = {{"latency_plain_ms", c.plain}, {"latency_recorded_ms", c.recorded}};
    const auto cost = RecordingCost::of(trace);
    ASSERT_TRUE(cost);
    EXPECT_EQ(cost->text, c.text) << c.plain << " " << c.recorded;
  }
}

TEST(RecordingCost, KeepsTheIntervalOfRunsThatWereNotRecorded) {
  Trace trace;
  describe_cost(trace, base::summarize({1, 2, 3, 4, 5, 6}), base::summarize({1, 2, 3}));
  const auto cost = RecordingCost::of(trace);
  ASSERT_TRUE(cost && cost->plain_interval);
  EXPECT_DOUBLE_EQ(cost->plain_interval->low, 1);
  EXPECT_DOUBLE_EQ(cost->plain_interval->high, 6);
  Trace few;
  describe_cost(few, base::summarize({1, 2, 3}), base::summarize({1, 2, 3}));
  EXPECT_FALSE(RecordingCost::of(few)->plain_interval);
}

TEST(RecordingCost, IsNothingWhereATraceTellsNoTimes) {
  for (const char* digits : {"", "x", "0", "-1", "inf", "nan"}) {
    Trace trace;
    trace.metadata = {{"latency_plain_ms", digits}, {"latency_recorded_ms", "2.0"}};
    EXPECT_FALSE(RecordingCost::of(trace)) << digits;
  }
}

}  // namespace
}  // namespace hone::trace
