// Keys of steps as text and back.
#include "engine/step_key.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace hone::engine {
namespace {

TEST(StepKey, ComesBackFromItsText) {
  for (const StepKey& key : {StepKey{0, {}}, StepKey{12, {0}}, StepKey{3, {1, 0, 27}}})
    EXPECT_EQ(parse_step_key(key.text()), key) << key.text();
  EXPECT_EQ((StepKey{12, {}}.piece(0).piece(1).text()), "12/0/1");
}

TEST(StepKey, PiecesFollowTheirNode) {
  EXPECT_LT((StepKey{1, {}}), (StepKey{1, {0}}));
  EXPECT_LT((StepKey{1, {0, 5}}), (StepKey{1, {1}}));
  EXPECT_LT((StepKey{1, {7}}), (StepKey{2, {}}));
}

TEST(StepKey, OtherTextsAreRefused) {
  for (const char* text :
       {"", "/", "1/", "/1", "1//2", "-1", "1/-2", "1 /2", "+1", "1.5", "99999999999", "a"}) {
    try {
      parse_step_key(text);
      ADD_FAILURE() << "'" << text << "' was read";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
      EXPECT_THAT(error.what(), ::testing::HasSubstr("names no step"));
    }
  }
}

}  // namespace
}  // namespace hone::engine
