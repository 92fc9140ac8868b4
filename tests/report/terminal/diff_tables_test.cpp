// Tables of the changes between two recordings.
#include "report/terminal/diff_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::report {
namespace {

using analysis::MatchedLayers;

std::vector<std::string> titles(const std::vector<Sheet>& sheets) {
  std::vector<std::string> result;
  for (const Sheet& sheet : sheets) result.push_back(sheet.title);
  return result;
}

TEST(DiffTables, KernelsThatTookThePlaceOfOthersStandTogether) {
  analysis::TraceDiff diff;
  const std::vector<std::string> eager = {"void lib::conv<float>(float*)", "void lib::conv<half>(half*)",
                                          "relu(int)"};
  diff.layers = {{{"a"}, {"a"}, eager, {"fused<4>(int)"}, {3000, 10}, {1000, 10}},
                 {{"b"}, {"b"}, eager, {"fused<8>(int)"}, {1500, 10}, {1600, 10}},
                 {{"c"}, {"c"}, {"pool<2>(int)"}, {"pool<4>(int)"}, {9000, 10}, {1000, 10}},
                 {{}, {"d"}, {}, {"pad(int)"}, {0, 0}, {5000, 10}}};
  diff.kernels = analysis::kernel_exchanges(diff.layers);
  const std::vector<Sheet> sheets = diff_sheets(diff);
  ASSERT_THAT(titles(sheets),
              ::testing::ElementsAre("From A to B, one iteration", "Layers, the largest change first",
                                     "Other kernels, the largest change first"));
  const auto& rows = sheets[2].rows;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0][0].text, "+5.000 us");
  EXPECT_EQ(rows[0][4].text, "(nothing)");
  EXPECT_EQ(rows[0][5].text, "pad");
  EXPECT_EQ(rows[1][0].plain, "-1900");
  EXPECT_EQ(rows[1][1].plain, "4500");
  EXPECT_EQ(rows[1][2].plain, "2600");
  EXPECT_EQ(rows[1][3].text, "2");
  EXPECT_EQ(rows[1][4].text, "conv | relu");
  EXPECT_EQ(rows[1][5].text, "fused");
}

TEST(DiffTables, NoKernelsAreShownWhereTheyAreTheSame) {
  analysis::TraceDiff diff;
  diff.layers = {{{"a"}, {"a"}, {"conv(int)"}, {"conv(int)"}, {3000, 10}, {1000, 10}}};
  diff.kernels = analysis::kernel_exchanges(diff.layers);
  EXPECT_EQ(diff_sheets(diff).size(), 2U);
  diff.layers.clear();
  EXPECT_EQ(diff_sheets(diff).size(), 1U);
}

TEST(DiffTables, EachReasonHasARow) {
  analysis::TraceDiff diff;
  diff.layers = {
      {{"a"}, {"a"}, {}, {}, {3000, 10}, {1000, 10}, {"A makes fp32, B fp16", "A runs x; B runs y"}},
      {{"b"}, {"b"}, {}, {}, {1000, 10}, {1000, 10}},
      {{}, {"c"}, {}, {}, {0, 0}, {500, 10}, {"only B has such layers"}}};
  const std::vector<Sheet> sheets = diff_sheets(diff);
  ASSERT_THAT(titles(sheets), ::testing::Contains("Why, the largest change first"));
  const auto& rows = sheets[2].rows;
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0][0].text, "-2.000 us");
  EXPECT_EQ(rows[0][2].text, "A makes fp32, B fp16");
  EXPECT_EQ(rows[1][1].text, "");
  EXPECT_EQ(rows[1][2].text, "A runs x; B runs y");
  EXPECT_EQ(rows[2][1].text, "c");
}

TEST(DiffTables, SaysWhichSideHasNoTime) {
  analysis::TraceDiff diff;
  const auto first_note = [&diff] { return diff_sheets(diff).front().notes.front(); };
  EXPECT_EQ(first_note(), "Neither A nor B has a time that could be compared.");
  diff.iteration_b.mean = 1000;
  EXPECT_EQ(first_note(), "A has no time that could be compared.");
  std::swap(diff.iteration_a, diff.iteration_b);
  EXPECT_EQ(first_note(), "B has no time that could be compared.");
}

TEST(DiffTables, SaysTheSpeedupFirstAndWithItsInterval) {
  analysis::TraceDiff diff;
  const auto first_note = [&diff] { return diff_sheets(diff).front().notes.front(); };
  diff.iteration_a = {4000, 100};
  diff.iteration_b = {1000, 50};
  EXPECT_EQ(first_note(), "B is 4.00x as fast as A [3.71 4.32], while recorded.");
  diff.plain_a = trace::RecordingCost{1.0, 4.0, base::Interval{0.9, 1.1}, ""};
  diff.plain_b = trace::RecordingCost{2.0, 4.0, base::Interval{1.9, 2.2}, ""};
  EXPECT_EQ(first_note(), "B is 2.00x as slow as A [1.73 2.44], not recorded.");
  diff.plain_b = trace::RecordingCost{1.0, 4.0, base::Interval{0.9, 1.2}, ""};
  EXPECT_EQ(first_note(),
            "B is 1.00x as fast as A [0.75 1.22], not recorded: the change is not more than noise.");
  diff.plain_b->plain_interval.reset();
  EXPECT_EQ(
      first_note(),
      "B is 1.00x as fast as A, not recorded; there are too few runs for an interval, so this may be noise.");
}

TEST(DiffTables, LargeFactorsHaveNoExponent) {
  analysis::TraceDiff diff;
  diff.iteration_a = {17300, 100};
  diff.iteration_b = {1, 0.01};
  EXPECT_EQ(diff_sheets(diff).front().notes.front(),
            "B is 17300x as fast as A [17030 17576], while recorded.");
}

TEST(DiffTables, UnrelatedSidesHaveNoVerdictButTheReason) {
  analysis::TraceDiff diff;
  diff.iteration_a = {17300, 100};
  diff.iteration_b = {1, 0.01};
  diff.unrelated = true;
  diff.notes = {"the reason"};
  EXPECT_THAT(diff_sheets(diff).front().notes, ::testing::ElementsAre("the reason"));
}

}  // namespace
}  // namespace hone::report
