// The one exception type: its text stays one printable sentence whatever names it quotes.
#include "base/error.hpp"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Error, ControlCharactersOfNamesAreShownAsNumbers) {
  try {
    fail_bad_input("attribute '{}' is not known", "a\nhone: all is well\x1b[2J\x7f");
  } catch (const Error& error) {
    EXPECT_STREQ(error.within("node 'n\r{}'").what(),
                 "node 'n\\x0d{}': attribute 'a\\x0ahone: all is well\\x1b[2J\\x7f' is not known");
  }
}

TEST(Error, OtherLettersStay) { EXPECT_STREQ(Error(ErrorKind::kUsage, "größer 名").what(), "größer 名"); }

}  // namespace
}  // namespace hone
