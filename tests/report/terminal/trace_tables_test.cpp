// The tables of a trace: names, units, order, and the sentences that answer questions.
#include "report/terminal/trace_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/random_trace.hpp"

namespace hone::report {
namespace {

using support::CopyDirection;
using support::TraceBuilder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<std::string> titles(const Sheet& sheet) {
  std::vector<std::string> result;
  for (const SheetColumn& column : sheet.columns) result.push_back(column.title);
  return result;
}

TEST(TraceTables, SummaryHasTheColumnsOfNvprofAndNsys) {
  TraceBuilder b;
  b.kernel("void lib::gemm<float>(float*)", 0, 3000);
  b.launch() = {{4, 2, 1}, {128, 1, 1}};
  b.copy(CopyDirection::kDeviceToHost, 4096, 3000, 4000);
  const auto summary = analysis::summarize_activities(b.build(), {0, 5000}, {.by_launch_shape = true});
  const std::vector<Sheet> sheets = summary_sheets(summary);
  ASSERT_THAT(sheets, SizeIs(2));  // neither calls nor ranges
  EXPECT_THAT(titles(sheets[0]), ElementsAre("Time(%)", "Total", "Calls", "Avg", "Med", "Min", "Max",
                                             "StdDev", "Grid", "Block", "Name"));
  EXPECT_EQ(sheets[0].rows[0][8].text, "4,2,1");
  EXPECT_EQ(sheets[0].rows[0][10].text, "lib::gemm<float>");
  EXPECT_EQ(sheets[0].rows[0][10].plain, "void lib::gemm<float>(float*)");
  EXPECT_EQ(sheets[0].rows[1][8].text, "-");
  EXPECT_EQ(sheets[1].rows[0][7].text, "4.096 GB/s");
}

TEST(TraceTables, TransfersAnswerTheTwoQuestions) {
  TraceBuilder b;
  b.copy(CopyDirection::kHostToDevice, 4096, 0, 400);
  b.kernel("k", 300, 1000);
  const trace::Trace& trace = b.build();
  const auto sheets = transfer_sheets(analysis::analyze_transfers(trace, analysis::find_steps(trace)));
  EXPECT_THAT(sheets.at(0).notes,
              ElementsAre("Is the link idle while the GPU computes? For 600 ns of 700 ns, 85.7 %.",
                          "Does the GPU not compute while the link works? For 300 ns of 400 ns, 75.0 %.",
                          "A perfect overlap inside each step would save 300 ns of 1.000 us, 30.0 %."));
}

TEST(TraceTables, GpuFiguresSayWhereTheyComeFrom) {
  TraceBuilder b;
  b.properties("NVIDIA H200").multiprocessors = 10;
  b.kernel("nvjet_hsh", 0, 500);
  b.launch().grid = {5, 1, 1};
  b.kernel("other", 500, 1000);
  b.sample("SMs active", "%", 100, 1);
  b.sample("SMs active", "%", 200, 42);
  const std::vector<Sheet> sheets = gpu_sheets(analysis::analyze_gpu_usage(b.build(), {0, 1000}));
  ASSERT_THAT(sheets, SizeIs(2));
  std::string text;
  for (const std::string& line : sheet_text(sheets[0], {})) text += line + "\n";
  for (const char* part : {"GPU 0: NVIDIA H200", "25.0 %  estimated, 50.0 % of kernel time",
                           "50.0 %  by name", "42.0 %  measured", "-  not recorded"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(TraceTables, MemoryNamesThePeak) {
  TraceBuilder b;
  b.allocate(100, 0xa, 600, 1000);
  const auto sheets = memory_sheets(analysis::follow_memory(b.build(), {0, 1000}), 40);
  EXPECT_THAT(sheets.at(0).notes, Contains(HasSubstr("Peak of 1.000 kB at 60 ns, as the allocator says")));
  EXPECT_EQ(sheets[0].rows.at(1)[3].text, "before the recording began");
}

TEST(TraceTables, SharesOfLayersAreOfMeansAndAddUpInOrder) {
  analysis::LayerTable table;
  table.layers.resize(2);
  table.layers[0].time = base::summarize({11, 11, 8});
  table.layers[1].time = base::summarize({10, 10, 70});
  table.layer_sum = base::summarize({21, 21, 78});
  const Sheet sheet = layer_sheets(table).at(0);
  EXPECT_EQ(sheet.rows.at(0).at(0).text, "75.0 %");
  EXPECT_EQ(sheet.rows.at(1).at(0).text, "25.0 %");
}

TEST(TraceTables, ProgramsWithoutAGpuHaveNoRowsOfOne) {
  analysis::StepBreakdown steps;
  analysis::StepCost cost;
  cost.step = {"ProfilerStep#1", {0, 100}, {0, 100}};
  cost.costs.at(static_cast<size_t>(analysis::StepCategory::kCpu)) = 90;
  cost.costs.at(static_cast<size_t>(analysis::StepCategory::kOther)) = 10;
  steps.steps = {cost};
  steps.announced = true;
  const auto names = [&] {
    const std::vector<Sheet> sheets = step_sheets(steps);
    std::vector<std::string> result;
    for (const auto& row : sheets.at(0).rows) result.push_back(row.at(0).text);
    return result;
  };
  EXPECT_THAT(names(), ElementsAre("step", "cpu", "other"));
  const Sheet each = step_sheets(steps).at(1);
  ASSERT_EQ(each.columns.size(), each.rows.at(0).size());
  EXPECT_EQ(each.columns.at(2).title, "CPU");
  steps.steps[0].costs.at(static_cast<size_t>(analysis::StepCategory::kKernel)) = 1;
  EXPECT_THAT(names(), testing::SizeIs(1 + analysis::kStepCategories));
}

TEST(TraceTables, AdviceComesWithGainAndPlace) {
  analysis::AdviceList list{{0, 1000}, 20, {}, {{"full-memory", "nothing was recorded"}}};
  EXPECT_THAT(advice_text(list, 0, 100),
              ElementsAre("Advice", "No advice: none of the 19 rules that apply to this trace fired.",
                          "Not judged: full-memory: nothing was recorded."));
  list.unjudged = {{"a", "no GPU"}, {"b", "no memory"}, {"c", "no GPU"}};
  EXPECT_THAT(advice_text(list, 0, 100),
              testing::IsSupersetOf({"Not judged: a, c: no GPU.", "Not judged: b: no memory."}));
  list.unjudged = std::vector<analysis::Unjudged>(16, {"a", "no GPU"});
  EXPECT_EQ(advice_text(list, 0, 100).back(), "Not judged: 16 rules: no GPU.");
  list.unjudged = {{"full-memory", "nothing was recorded"}};
  list.advice.push_back({"sync", "It waits.", {{"a wait", {150, 250}}}, "Do not.", 100, "the wait"});
  list.advice.push_back({"other", "Strange.", {{"odd", {}}}, "Look.", 0, "not known"});
  EXPECT_THAT(
      advice_text(list, 50, 100),
      ElementsAre("Advice", "1. It waits. (sync)", "   - a wait, at 100 ns",
                  "   Gain at best: 100 ns, 10.0 %: the wait", "   How: Do not.", "2. Strange. (other)",
                  "   - odd", "   Gain at best: no estimate: not known", "   How: Look.",
                  "Gains overlap and do not add up. Times are counted from the start of the trace.",
                  "Not judged: full-memory: nothing was recorded."));
  EXPECT_EQ(advice_sheets(list).at(0).rows.at(0)[1].plain, "100");
}

TEST(TraceTables, TheWorstDoubtComesFirst) {
  trace::Trace trace;
  EXPECT_THAT(doubt_text(trace.doubts, 80), ElementsAre("No events were lost, and nothing is in doubt."));
  trace.doubt(trace::Severity::kNote, "clock", "is the GPU's", 0);
  trace.doubt(trace::Severity::kLoss, "kernels", "were dropped", 7);
  EXPECT_THAT(doubt_text(trace.doubts, 80),
              ElementsAre("loss: kernels: 7 were dropped", "note: clock: is the GPU's"));
}

TEST(TraceTables, OfRandomTracesKeepToTheWidth) {
  base::Random random(10);
  const auto characters = [](const std::string& line) {
    return std::count_if(line.begin(), line.end(),
                         [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  };
  for (int round = 0; round < 50; ++round) {
    const analysis::Analyses all = analysis::analyze(support::random_trace(random, random.below(5)));
    for (const auto& sheets :
         {summary_sheets(all.summary), step_sheets(all.steps), gpu_sheets(all.gpu),
          operator_sheets(all.operators), transfer_sheets(all.transfers), memory_sheets(all.memory, 0)}) {
      for (const Sheet& sheet : sheets) {
        for (const auto& row : sheet.rows) EXPECT_EQ(row.size(), sheet.columns.size()) << sheet.title;
        for (const std::string& line : sheet_text(sheet, {})) {
          const size_t line_break = line.find('\n');  // a table's titles and the line below
          EXPECT_LE(characters(line.substr(0, line_break)), 120) << line;
        }
      }
    }
    for (const std::string& line : advice_text(all.advice, 0, 100)) EXPECT_LE(characters(line), 100) << line;
  }
}

}  // namespace
}  // namespace hone::report
