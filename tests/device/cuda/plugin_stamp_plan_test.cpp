// Which stamps bound which launches: no GPU is needed.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "device/cuda/plugin/watch/stamp_plan.hpp"

namespace hone::device::cuda {

static bool operator==(const Moment& a, const Moment& b) { return a.place == b.place && a.end == b.end; }

namespace {

/// Nodes for steps, one letter a node: s stamps itself, l is a library's, e one of those that are let in
/// early.
std::vector<RecordedNode> nodes_of(const std::vector<std::string>& steps) {
  std::vector<RecordedNode> nodes;
  int64_t place = 0;
  for (size_t step = 0; step < steps.size(); ++step) {
    for (const char letter : steps[step])
      nodes.push_back({step, nodes.size(), letter == 's' ? place++ : -1, letter == 'e'});
  }
  return nodes;
}

/// The marks, one letter each: - none, b beside, i between.
std::string marks_of(const std::vector<std::string>& steps) {
  std::string letters;
  for (const Mark mark : find_marks(nodes_of(steps), steps.size()))
    letters += mark == Mark::kNone ? '-' : mark == Mark::kBeside ? 'b' : 'i';
  return letters;
}

TEST(StampPlan, MarksNothingWhereStampsBoundAll) {
  EXPECT_EQ(marks_of({"s", "s"}), "---");
  EXPECT_EQ(marks_of({"s", "l", "s"}), "----");
  EXPECT_EQ(marks_of({"sl", "s"}), "---");
  EXPECT_EQ(marks_of({"", ""}), "---") << "steps of views have no nodes";
}

TEST(StampPlan, MarksBetweenLibrariesAndAtBothEnds) {
  EXPECT_EQ(marks_of({"l", "l", "s", "l"}), "ib--b");
  EXPECT_EQ(marks_of({"s", "l", "", "l", "s"}), "---b--");
  EXPECT_EQ(marks_of({"s", "ll", "s"}), "----") << "one step's";
}

TEST(StampPlan, MarksInTheChainAheadOfWhatIsLetInEarly) {
  EXPECT_EQ(marks_of({"s", "l", "e", "l", "s"}), "--ib--");
  EXPECT_EQ(marks_of({"s", "e", "s"}), "----");
  EXPECT_EQ(marks_of({"e", "e"}), "iib");
}

TEST(StampPlan, BoundsLaunchesByWhatRanAround) {
  const std::vector<Stretch> found = find_stretches(nodes_of({"s", "l", "s"}), {-1, -1, -1, -1});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].start, (Moment{0, false}));
  EXPECT_EQ(found[0].stop, (Moment{0, true}));
  EXPECT_EQ(found[1].start, (Moment{0, true}));
  EXPECT_EQ(found[1].stop, (Moment{1, false}));
  EXPECT_EQ(found[2].start, (Moment{1, false}));
}

TEST(StampPlan, BoundsNeighbouringLibrariesByMarks) {
  const std::vector<Stretch> found = find_stretches(nodes_of({"l", "ll", "s", "l"}), {5, 6, -1, -1, 7});
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].start, (Moment{5, false}));
  EXPECT_EQ(found[0].stop, (Moment{6, false}));
  EXPECT_EQ(found[1].first, 1U);
  EXPECT_EQ(found[1].count, 2U) << "launches of one step together";
  EXPECT_EQ(found[1].start, (Moment{6, false}));
  EXPECT_EQ(found[1].stop, (Moment{0, false}));
  EXPECT_EQ(found[3].start, (Moment{0, true}));
  EXPECT_EQ(found[3].stop, (Moment{7, false}));
}

TEST(StampPlan, BoundsALibraryInsideAStep) {
  const std::vector<Stretch> found = find_stretches(nodes_of({"sls"}), {-1, -1});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[1].start, (Moment{0, true}));
  EXPECT_EQ(found[1].stop, (Moment{1, false}));
}

/// Times of steps as nodes_of() takes them, all of which stamp themselves.
std::vector<double> times_of(const std::vector<std::string>& steps, const std::vector<KernelStamp>& stamps) {
  const std::vector<RecordedNode> nodes = nodes_of(steps);
  return step_times(nodes, find_stretches(nodes, std::vector<int64_t>(steps.size() + 1, -1)), stamps,
                    steps.size());
}

TEST(StampPlan, StepsTakeFromTheEndBeforeThemToTheirOwn) {
  const std::vector<KernelStamp> stamps = {{1000, 4000}, {2000, 9000}, {9500, 10000}};
  EXPECT_EQ(times_of({"s", "s", "s"}, stamps), (std::vector<double>{3, 5, 1}));
  EXPECT_EQ(times_of({"s", "", "ss"}, stamps), (std::vector<double>{3, 0, 6})) << "a view, and two kernels";
  EXPECT_EQ(times_of({"", ""}, {}), (std::vector<double>{0, 0}));
}

TEST(StampPlan, WhatHadEndedBeforeSomethingAheadOfItTakesNoTime) {
  EXPECT_EQ(times_of({"s", "s", "s"}, {{1000, 5000}, {2000, 4000}, {3000, 6000}}),
            (std::vector<double>{4, 0, 1}));
}

TEST(StampPlan, LibrariesTakeAsLongAsWhatRanAroundSays) {
  EXPECT_EQ(times_of({"s", "l", "s"}, {{1000, 2000}, {5000, 6000}}), (std::vector<double>{1, 3, 1}));
}

}  // namespace
}  // namespace hone::device::cuda
