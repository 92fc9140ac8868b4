// Texts that fit: their middle left out, lines wrapped, bytes that are no text replaced.
#include "report/plot/text_fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/plot/fake_measure.hpp"

namespace hone::report {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(TextFit, TheMiddleIsLeftOutAndTheEndsStay) {
  // 6 pixels a letter of size 12: ten letters fit.
  EXPECT_EQ(fit_text("short", 60, 12, false, fake_measure), "short");
  EXPECT_EQ(fit_text("0123456789", 60, 12, false, fake_measure), "0123456789");
  EXPECT_EQ(fit_text("0123456789a", 60, 12, false, fake_measure), "012345…89a");
  EXPECT_EQ(fit_text("ääääääääääääääääää", 30, 12, false, fake_measure), "ää…ää");
  EXPECT_LE(fake_measure(fit_text(std::string(5'000'000, 'x'), 300, 12, false, fake_measure), 12, false),
            300);
}

TEST(TextFit, LinesAreWrappedAndTheLastSaysThatThereWasMore) {
  EXPECT_THAT(wrap_text("one two three four", 60, 12, 9, fake_measure), ElementsAre("one two", "three four"));
  EXPECT_THAT(wrap_text("one two three four", 60, 12, 1, fake_measure), ElementsAre("one two…"));
  EXPECT_THAT(wrap_text("  ", 60, 12, 3, fake_measure), SizeIs(0));
  EXPECT_THAT(wrap_text("a 0123456789abcdef b", 60, 12, 9, fake_measure),
              ElementsAre("a", "012345…def", "b"));
}

TEST(TextFit, WhatIsNoTextIsReplaced) {
  EXPECT_EQ(drawable_text("a\x01\nb\x7f"), "a  b ");
  EXPECT_EQ(drawable_text("gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80"), "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80");
  EXPECT_EQ(drawable_text("\xff\xc3"), "??");       // no beginning, no end
  EXPECT_EQ(drawable_text("\xc0\xaf"), "??");       // an overlong '/'
  EXPECT_EQ(drawable_text("\xed\xa0\x80"), "???");  // a surrogate
  EXPECT_EQ(drawable_text("\xef\xbf\xbf"), "???");  // U+FFFF, which XML forbids
  EXPECT_EQ(drawable_text(std::string("a\0b", 3)), "a b");
}

}  // namespace
}  // namespace hone::report
