// Which groups of a batch are timed, and what happens where there is no room for some of them.
#include "engine/search/batch_group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cpu/cpu_device.hpp"
#include "engine/builder.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::Key;

/// The groups of a batch of 5 images; `room` says of the n-th attempt whether there is room for it.
std::optional<BatchGroups> groups_where(const std::function<bool(int attempt)>& room,
                                        double seconds = SearchBudget::kNoLimit) {
  test::GraphBuilder b;
  const auto x = b.input("x", {test::Dim::symbol("batch"), 4, 6, 6});
  const auto graph = b.finish({b.conv(x, 4, 4)});
  BuildOptions options;
  options.optimization_level = 0;
  const auto engine = build_engine(graph, device::cpu::cpu_device(), options);
  int attempt = 0;
  return time_batch_groups(
      *engine, device::cpu::cpu_device(), test::random_inputs(graph, 1, 5), 5,
      [&](const std::function<void()>& action) {
        if (!room(attempt++)) return false;
        action();
        return true;
      },
      SearchBudget(seconds));
}

TEST(BatchGroups, AreTheWholeBatchAndPowersOfTwoBelowIt) {
  const auto groups = groups_where([](int) { return true; });
  ASSERT_TRUE(groups);
  EXPECT_TRUE(groups->times.contains(0));
  EXPECT_TRUE(groups->times.contains(groups->chosen));
  for (const auto& [images, time] : groups->times) {
    EXPECT_TRUE(images == 0 || images == 1 || images == 2 || images == 4) << images;
    EXPECT_GT(time.median_us, 0);
    EXPECT_GE(time.median_us, time.lower_quartile_us);
    EXPECT_GE(time.samples, 1);
  }
}

TEST(BatchGroups, AreTheWholeBatchWhereThereIsNoTime) {
  const auto groups = groups_where([](int) { return true; }, 0);
  ASSERT_TRUE(groups);
  EXPECT_THAT(groups->times, ElementsAre(Key(0)));
  EXPECT_TRUE(groups->cut_short);
  EXPECT_FALSE(groups_where([](int) { return true; })->cut_short);
}

TEST(BatchGroups, AreThoseThatThereIsRoomFor) {
  const auto last = groups_where([](int attempt) { return attempt == 3; });
  ASSERT_TRUE(last);
  EXPECT_THAT(last->times, ElementsAre(Key(4)));
  EXPECT_EQ(last->chosen, 4);
  EXPECT_FALSE(groups_where([](int) { return false; }));
}

}  // namespace
}  // namespace hone::engine
