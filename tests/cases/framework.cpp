// Tests of what the cases themselves rest on: reading case files, and showing differences.
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.hpp"
#include "cases/case_file.hpp"
#include "cases/line_diff.hpp"

namespace hone::test {
namespace {

std::vector<Case> cases_of(const std::string& text) {
  // Tests run at the same time.
  const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::filesystem::path file = testing::TempDir() + name + ".case";
  std::ofstream(file) << text;
  return read_cases(file, "folder");
}

TEST(CaseFile, HoldsHeadersAndSections) {
  const auto cases = cases_of(
      "# comment\n\n"
      "=== first\nshows: This.\npasses: a b\nrefused: x: y\nsymbols: N = 2, M=3\nshape: z = 2x4\n"
      "--- before\none\n\ntwo\n\n\n"
      "=== second\n--- unchanged\n");
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].line, 3);
  EXPECT_EQ(cases[0].get("shows"), "This.");
  EXPECT_EQ(cases[0].passes(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(cases[0].get("refused"), "x: y");
  EXPECT_EQ(cases[0].symbols(), (std::map<std::string, int64_t>{{"M", 3}, {"N", 2}}));
  EXPECT_EQ(cases[0].shapes().at("z"), (tensor::Shape{2, 4}));
  EXPECT_EQ(cases[0].need("before").text, "one\n\ntwo\n\n\n");
  EXPECT_EQ(cases[0].need("before").begin, 9u);
  EXPECT_EQ(cases[0].need("before").end, 12u);
  EXPECT_NE(cases[1].section("unchanged"), nullptr);
  EXPECT_THROW(cases[1].need("before"), Error);
}

TEST(CaseFile, RefusesWhatIsNone) {
  for (const char* text : {"text\n", "=== Name\n", "=== a\nkey: value\n", "=== a\n--- behind\n",
                           "=== a\n--- before\n--- before\n"})
    EXPECT_THROW(cases_of(text), Error) << text;
}

TEST(LineDiff, ShowsAsFewLinesAsCanBe) {
  EXPECT_EQ(line_diff("a\nb\nc\n", "a\nc\nd\n"), "  a\n- b\n  c\n+ d\n");
  EXPECT_EQ(line_diff("", "a\n"), "+ a\n");
  EXPECT_EQ(line_diff("a\nb\n", ""), "- a\n- b\n");
}

}  // namespace
}  // namespace hone::test
