// Sheets as text that keeps to the terminal's width, and as CSV.
#include "report/terminal/sheet.hpp"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

namespace hone::report {
namespace {

using ::testing::ElementsAre;

Sheet sheet() {
  Sheet sheet{"Kernels", {{"Total", "ns"}, {"Share", "%"}, {"Name", "", false}}, {}, {"A note."}};
  sheet.rows = {{time_cell(1'234'000), share_cell(0.75), text_cell("a name, \"quoted\"")},
                {time_cell(400), no_cell(), text_cell("b")}};
  return sheet;
}

TEST(Sheet, TextIsAligned) {
  EXPECT_THAT(sheet_text(sheet(), {60, 20}),
              ElementsAre("Kernels",
                          "   Total   Share  Name\n"
                          "----------------------------------",
                          "1.234 ms  75.0 %  a name, \"quoted\"", "  400 ns       -  b", "A note."));
}

TEST(Sheet, LongNamesGiveWay) {
  Sheet wide = sheet();
  wide.rows[0][2] = text_cell(std::string(40, 'a') + std::string(40, 'z'));
  const std::vector<std::string> lines = sheet_text(wide, {50, 20});
  EXPECT_EQ(lines[2],
            "1.234 ms  75.0 %  aaaaaaaaaaaaaaaaaaaa"
            "…"
            "zzzzzzzzzzz");
  wide.rows[0][2].shorter = "brief";
  EXPECT_EQ(sheet_text(wide, {50, 20})[2], "1.234 ms  75.0 %  brief");
  EXPECT_EQ(cut_middle("äöüäöüäöü", 4), "äö…ü");
  EXPECT_EQ(cut_middle("short", 5), "short");
}

/// Kernels of one template have long names that differ in a parameter.
TEST(Sheet, NamesThatWouldLookAlikeAreCutWhereTheyDiffer) {
  const std::string before = "void cutlass::Kernel<cutlass_tensorop_f16_s16816gemm_";
  const std::string after = "_align8>(Params) at the end of a long signature";
  Sheet wide{"Kernels", {{"Name", "", false}}, {}, {}};
  wide.rows = {{text_cell(before + "128x128" + after)}, {text_cell(before + "256x064" + after)}};
  const std::vector<std::string> lines = sheet_text(wide, {30, 20});
  EXPECT_EQ(lines[2], "void cu…m_128x128_align8>(Par…");
  EXPECT_EQ(lines[3], "void cu…m_256x064_align8>(Par…");
}

/// LC_ALL=C says that a terminal shows ASCII alone.
TEST(Sheet, PlainLocalesGetPlainSymbols) {
  Sheet wide{"Both", {{"Name", "", false}, {"A ±", "ns", true}}, {}, {"±: half"}};
  wide.rows = {{text_cell(std::string(20, 'a') + std::string(20, 'z')), text_cell("1 ±2")}};
  const char* const before = std::getenv("LC_ALL");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("LC_ALL", "C", 1);
  EXPECT_THAT(sheet_text(wide, {30, 20}),
              ElementsAre("Both", testing::HasSubstr("A +-"), "aaaaaaaaaaaaaa..zzzzzzz  1 +-2", "+-: half"));
  ::setenv("LC_ALL", "C.UTF-8", 1);
  EXPECT_EQ(sheet_text(wide, {30, 20})[3], "±: half");
  before == nullptr ? ::unsetenv("LC_ALL") : ::setenv("LC_ALL", kept.c_str(), 1);
}

TEST(Sheet, SizesOfCountersHaveUnits) {
  EXPECT_EQ(unit_cell(4.72166e6, "B").text, "4.722 MB");
  EXPECT_EQ(unit_cell(4.72166e6, "B").plain, "4.72166e+06");
  EXPECT_EQ(unit_cell(2.5e9, "B/s").text, "2.500 GB/s");
  EXPECT_EQ(unit_cell(93.21456, "%").text, "93.21");
}

TEST(Sheet, SeveralColumnsOfNamesGiveWay) {
  Sheet wide{"Two", {{"A", "", false}, {"B", "", false}}, {}, {}};
  wide.rows = {{text_cell(std::string(60, 'a')), text_cell(std::string(40, 'b'))}};
  EXPECT_EQ(sheet_text(wide, {62, 20})[2],
            cut_middle(std::string(60, 'a'), 30) + "  " + cut_middle(std::string(40, 'b'), 30));
}

TEST(Sheet, SpareColumnsAreLeftOutAloud) {
  Sheet wide{
      "Five", {{"Name", "", false}, {"Mean"}, {"Low", "", true, true}, {"High", "", true, true}}, {}, {}};
  wide.rows = {
      {text_cell("a name of thirty characters..."), text_cell("1234"), text_cell("1200"), text_cell("1300")}};
  EXPECT_EQ(sheet_text(wide, {60, 20}).size(), 3U);
  const std::vector<std::string> lines = sheet_text(wide, {28, 20});
  EXPECT_EQ(lines[2], "a name of …rs...  1234  1200") << lines[1];
  EXPECT_THAT(fmt::format("{}", fmt::join(lines, " ")), ::testing::HasSubstr("No room for High"));
  EXPECT_EQ(sheet_csv(wide)[1], "Name,Mean,Low,High");
}

TEST(Sheet, PartsBecomeACountWhereThereIsLittleRoom) {
  EXPECT_EQ(parts_cell({"conv1", "bn1", "relu"}, " + ").text, "conv1 + bn1 + relu");
  EXPECT_EQ(parts_cell({"conv1", "bn1", "relu"}, " + ").shorter, "conv1 +2");
  EXPECT_EQ(parts_cell({"conv1"}, " + ").shorter, "");
  Sheet parts{"Layers", {{"Name", "", false}}, {{parts_cell({"convolution1", "bn1", "relu"}, " + ")}}, {}};
  EXPECT_THAT(sheet_text(parts, {18, 20}),
              ElementsAre("Layers", testing::_, "convolution1 +2", "+N: N more parts", "(a wider terminal",
                          "has them)."));
  EXPECT_THAT(sheet_text(parts, {40, 20}), ::testing::SizeIs(3)) << "nothing is left out";
}

TEST(Sheet, RowsThatAreNotShownAreCounted) {
  const std::vector<std::string> lines = sheet_text(sheet(), {60, 1});
  EXPECT_THAT(lines, ::testing::Contains("… 1 more rows (--rows 0 shows all)"));
  EXPECT_EQ(lines.size(), 5U);
  Sheet whole = sheet();
  whole.whole = true;
  EXPECT_EQ(sheet_text(whole, {60, 1}), sheet_text(sheet(), {60, 20}));
}

TEST(Sheet, CsvHasPlainValuesAndUnits) {
  EXPECT_THAT(sheet_csv(sheet()), ElementsAre("# Kernels", "Total (ns),Share (%),Name",
                                              "1234000,75.0000,\"a name, \"\"quoted\"\"\"", "400,,b"));
}

TEST(Sheet, CsvKeepsAColumnWithoutATitle) {
  EXPECT_EQ(sheet_csv({"Two", {{""}, {"Time", "ns"}}, {}, {}})[1], ",Time (ns)");
}

TEST(Sheet, ControlCharactersAreWrittenOut) {
  EXPECT_EQ(printable("a\x1b[31m\n\x07 \xc2\x9b ä"), "a\\x1b[31m\\x0a\\x07 \\x9b ä");
  Sheet hostile = sheet();
  hostile.rows[0][2] = text_cell("\x1b]0;title\x07");
  hostile.notes = {"a\nb"};
  for (const std::string& line : sheet_text(hostile, {60, 20}))
    EXPECT_EQ(line.find_first_of("\x1b\x07"), std::string::npos);
  EXPECT_EQ(sheet_text(hostile, {60, 20}).back(), "a\\x0ab");
  EXPECT_EQ(sheet_csv(hostile)[2], "1234000,75.0000,\\x1b]0;title\\x07");
}

TEST(Sheet, TextIsWrappedAtWords) {
  EXPECT_THAT(wrap("one two three four", 9, 2), ElementsAre("one two", "  three", "  four"));
  EXPECT_THAT(wrap("  - one two", 7, 4), ElementsAre("  - one", "    two"));
  EXPECT_THAT(wrap("averyverylongword x", 5), ElementsAre("av…rd", "x")) << "no line is too long";
}

}  // namespace
}  // namespace hone::report
