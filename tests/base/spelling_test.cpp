// Which names are taken for a slip of the keyboard, and which are not.
#include "base/spelling.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace hone::base {
namespace {

TEST(Spelling, CountsEdits) {
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("build", "build"), 0U);
  EXPECT_EQ(edit_distance("buld", "build"), 1U);
  EXPECT_EQ(edit_distance("bnech", "bench"), 1U);
  EXPECT_EQ(edit_distance("ba", "ab"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Spelling, FindsWhatWasMeant) {
  const std::vector<std::string> names = {"build", "bench", "bert_base"};
  EXPECT_EQ(nearest_name("buld", names), "build");
  EXPECT_EQ(nearest_name("bnech", names), "bench");
  EXPECT_EQ(nearest_name("bert", names), "bert_base");
  EXPECT_EQ(nearest_name("xyz", names), std::nullopt);
  EXPECT_EQ(nearest_name("", names), std::nullopt);
  EXPECT_EQ(nearest_name("build", {}), std::nullopt);
}

}  // namespace
}  // namespace hone::base
