// Which stamps bound which launches: no GPU is needed.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "device/cuda/plugin/stamp_plan.hpp"

namespace hone::device::cuda {

static bool operator==(const Moment& a, const Moment& b) { return a.place == b.place && a.end == b.end; }

namespace {

/// Of steps, one letter a node: s stamps itself, l is a library's.
std::vector<RecordedNode> nodes_of(const std::vector<std::string>& steps) {
  std::vector<RecordedNode> nodes;
  int64_t place = 0;
  for (size_t step = 0; step < steps.size(); ++step) {
    for (const char letter : steps[step]) nodes.push_back({step, nodes.size(), letter == 's' ? place++ : -1});
  }
  return nodes;
}

using Marks = std::vector<bool>;

TEST(StampPlan, MarksNothingWhereStampsBoundAll) {
  EXPECT_EQ(find_marks(nodes_of({"s", "s"}), 2), Marks({false, false, false}));
  EXPECT_EQ(find_marks(nodes_of({"s", "l", "s"}), 3), Marks({false, false, false, false}));
  EXPECT_EQ(find_marks(nodes_of({"sl", "s"}), 2), Marks({false, false, false}));
  EXPECT_EQ(find_marks({}, 2), Marks({false, false, false})) << "steps of views have no nodes";
}

TEST(StampPlan, MarksBetweenLibrariesAndAtBothEnds) {
  EXPECT_EQ(find_marks(nodes_of({"l", "l", "s", "l"}), 4), Marks({true, true, false, false, true}));
  EXPECT_EQ(find_marks(nodes_of({"s", "l", "", "l", "s"}), 5),
            Marks({false, false, false, true, false, false}));
  EXPECT_EQ(find_marks(nodes_of({"s", "ll", "s"}), 3), Marks({false, false, false, false})) << "one step's";
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
