// Which stamps bound which launches: no GPU is needed.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "device/cuda/plugin/stamp_plan.hpp"

namespace hone::device::cuda {

static bool operator==(const Moment& a, const Moment& b) { return a.place == b.place && a.end == b.end; }

namespace {

/// Of steps, one letter a node: s stamps itself, l is a library's, e one of those that are let in early.
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

}  // namespace
}  // namespace hone::device::cuda
