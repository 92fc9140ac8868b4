// Passes that devices bring stand in the list of all where they say, and run only where they are asked for.
#include "transform/device_passes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"

namespace hone::transform {
namespace {

Summary nothing(Graph& /*graph*/) { return {}; }

Pass pass(std::string_view name) { return {name, "Does nothing", nothing, false}; }

const std::vector<Pass> kOwn = {pass("fold"), pass("fuse"), pass("drop")};

TEST(DevicePasses, RunBehindThePassThatTheyName) {
  const auto joined = join_passes(kOwn, {{"dsp", "fuse", {pass("tile"), pass("slice")}},
                                         {"dsp", "fold", {pass("lift")}},
                                         {"asic", "fuse", {pass("pack")}}});
  std::vector<std::string_view> names;
  std::vector<std::string_view> on_request;
  for (const Pass& pass : joined) {
    names.push_back(pass.name);
    if (pass.on_request) on_request.push_back(pass.name);
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"fold", "lift", "fuse", "pack", "tile", "slice", "drop"}));
  EXPECT_EQ(on_request, (std::vector<std::string_view>{"lift", "pack", "tile", "slice"}));
}

TEST(DevicePasses, BehindNoPassAreAnInternalError) {
  try {
    join_passes(kOwn, {{"dsp", "fusion", {pass("tile")}}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInternal);
    EXPECT_EQ(error.sentence(), "passes of dsp are to run after 'fusion', which is no pass");
  }
}

/// Although no program of these tests loads a plugin.
TEST(DevicePasses, OfAllDevicesAreKnown) {
  EXPECT_FALSE(registered_passes().empty());
  for (const DevicePasses& group : registered_passes()) {
    for (const Pass& brought : group.passes) {
      const auto found = std::ranges::find(passes(), brought.name, &Pass::name);
      ASSERT_NE(found, passes().end()) << brought.name;
      EXPECT_TRUE(found->on_request) << brought.name;
      EXPECT_EQ(found->apply, brought.apply) << brought.name;
    }
  }
}

}  // namespace
}  // namespace hone::transform
