// Ids stay with objects: through crossings, weak detections and gaps.
#include "task/tracker.hpp"

#include <gtest/gtest.h>

#include <set>

namespace hone::task {
namespace {

Detection at(float x, float y, float score = 0.9f, int64_t label = 0) {
  return {{x, y, x + 20, y + 40}, score, label};
}

TEST(Assign, FindsTheLeastSum) {
  EXPECT_EQ(assign({{0.1, 0.2}, {0.1, 0.9}}, 1), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(assign({{0.1}, {0.05}, {0.9}}, 0.5), (std::vector<int64_t>{-1, 0, -1}));
  EXPECT_EQ(assign({{0.9, 0.8}}, 0.5), (std::vector<int64_t>{-1}));
  EXPECT_EQ(assign({}, 1), std::vector<int64_t>{});
}

TEST(Tracker, TwoObjectsThatPassEachOtherKeepTheirIds) {
  Tracker tracker(25);
  int64_t left = -1;
  int64_t right = -1;
  for (int frame = 0; frame < 40; ++frame) {
    std::vector<Detection> found{at(10 + 4.0f * static_cast<float>(frame), 50),
                                 at(170 - 4.0f * static_cast<float>(frame), 75)};
    tracker.follow(&found);
    if (frame == 0) left = found[0].track, right = found[1].track;
    EXPECT_EQ(found[0].track, left) << frame;
    EXPECT_EQ(found[1].track, right) << frame;
  }
  EXPECT_NE(left, right);
}

TEST(Tracker, WeakDetectionsAndGapsKeepAnId) {
  Tracker tracker(25);
  std::set<int64_t> ids;
  for (int frame = 0; frame < 60; ++frame) {
    std::vector<Detection> found;
    const bool hidden = frame > 30 && frame < 41;
    if (!hidden) found.push_back(at(10 + 2.0f * static_cast<float>(frame), 50, frame % 3 == 1 ? 0.2f : 0.9f));
    tracker.follow(&found);
    for (const Detection& one : found) ids.insert(one.track);
  }
  EXPECT_EQ(ids, (std::set<int64_t>{1}));
}

TEST(Tracker, WhatIsSeenOnceLaterHasNoId) {
  Tracker tracker(25);
  std::vector<Detection> nothing;
  tracker.follow(&nothing);
  std::vector<Detection> flash{at(100, 100)};
  tracker.follow(&flash);
  EXPECT_EQ(flash[0].track, -1);
  tracker.follow(&nothing);
  std::vector<Detection> weak{at(100, 100, 0.3f)};
  tracker.follow(&weak);
  EXPECT_EQ(weak[0].track, -1) << "a weak detection begins no track";
}

TEST(Tracker, ClassesAreNotMixed) {
  Tracker tracker(25);
  std::vector<Detection> cat{at(50, 50, 0.9f, 0)};
  tracker.follow(&cat);
  std::vector<Detection> dog{at(50, 50, 0.9f, 1)};
  tracker.follow(&dog);
  EXPECT_NE(dog[0].track, cat[0].track);
}

}  // namespace
}  // namespace hone::task
