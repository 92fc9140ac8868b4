// A tactic's name and its variant, as files and people have them.
#include "engine/tactic_id.hpp"

#include <gtest/gtest.h>

namespace hone::engine {
namespace {

TEST(TacticId, IsOneTextInFiles) {
  EXPECT_EQ((TacticId{"cudnn", "e3k1=2"}).text(), "cudnn:e3k1=2");
  EXPECT_EQ((TacticId{"chain", ""}).text(), "chain");
  for (const char* text : {"", "chain", "cudnn+pool:e3", "tiles:n=1:a"})
    EXPECT_EQ(parse_tactic_id(text).text(), text);
  EXPECT_EQ(parse_tactic_id("tiles:n=1:a"), (TacticId{"tiles", "n=1:a"}));
}

TEST(TacticId, KnowsWhatStandsForNoTactic) {
  EXPECT_TRUE(TacticId().empty());
  EXPECT_TRUE(parse_tactic_id(kDissolved).dissolves());
  EXPECT_FALSE(parse_tactic_id("chain").dissolves());
}

}  // namespace
}  // namespace hone::engine
