// The critical path as nvprof showed it, and what else is told of it.
#include "report/terminal/path_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/program_trace.hpp"

namespace hone::report {
namespace {

using analysis::ProgramTrace;
using ::testing::ElementsAre;

std::vector<Sheet> sheets_of(const trace::Trace& trace) {
  const analysis::EventGraph graph = analysis::build_event_graph(trace);
  return dependency_sheets(analysis::critical_path(graph), analysis::what_if(graph));
}

/// The program of a published output of nvprof: two kernels in two streams, ten times, and managed memory.
/// Its times are those that nvprof gave; the gaps between them, which it does not tell, are the program's
/// own.
TEST(PathTables, AgreeWithWhatNvprofSaidOfAProgram) {
  ProgramTrace program;
  trace::Time now = 0;
  program.call("cudaMallocManaged", now, now + 300'000'000);
  program.call("cudaMallocManaged", now + 300'000'000, now + 369'095'123);
  now += 369'095'123;
  program.call("cuDeviceGetAttribute", now, now + 4'670'000);
  now += 4'670'000;
  for (int i = 0; i < 10; ++i) {
    now += 475'199'100;  // the program initializes its data
    const trace::Time kernel = now;
    const trace::Time end = kernel + 148'400'200;
    program.kernel(program.call("cudaLaunch", kernel, kernel + 20'000), "vec_inc1(float*, int)", kernel, end,
                   8);
    program.kernel(program.call("cudaLaunch", kernel + 30'000, kernel + 40'000), "vec_inc2(float*, int)",
                   kernel + 45'000, kernel + 45'000 + 128'559'000, 9);
    program.wait_for_device(kernel + 60'500, end);
    now = end;
  }
  program.call("cudaFree", now, now + 53'900'904);
  const trace::Trace trace = program.finish();
  const Sheet sheet = sheets_of(trace).front();
  std::vector<std::string> titles;
  for (const SheetColumn& column : sheet.columns) titles.push_back(column.title);
  EXPECT_THAT(titles,
              ElementsAre("Critical path(%)", "Critical path", "Waiting time", "Name", "Blame", "Calls"));
  std::vector<std::string> rows;
  for (const std::vector<Cell>& row : sheet.rows)
    rows.push_back(row[0].text + " " + row[1].plain + " " + row[2].plain + " " + row[3].text);
  EXPECT_THAT(rows,
              ElementsAre("71.3 % 4751991000 0 <Other>", "22.3 % 1484002000 0 vec_inc1(float*, int)",
                          "5.5 % 369095123 0 cudaMallocManaged", "0.8 % 53900904 0 cudaFree",
                          "0.1 % 4670000 0 cuDeviceGetAttribute", "0.0 % 0 1483397000 cudaDeviceSynchronize",
                          "0.0 % 0 0 cudaLaunch", "0.0 % 0 0 vec_inc2(float*, int)"));
}

TEST(PathTables, TellWhatWouldBeGainedAndWhyTheGpuWasIdle) {
  ProgramTrace program;
  program.launch("gemm", 0, 10'000, 2'010'000, 8);
  program.wait_for_stream(8, 500'000, 2'010'000);
  const trace::Trace trace = program.finish();
  const std::vector<Sheet> sheets = sheets_of(trace);
  ASSERT_EQ(sheets.size(), 2U);
  EXPECT_EQ(sheets[1].rows.front()[2].text, "in no time: gemm");
  // The host begins to wait at 500 us and would go on at once, instead of at 2010 us.
  EXPECT_EQ(sheets[1].rows.front()[0].plain, "1510000");
  const std::vector<Sheet> idle = idle_sheets(analysis::idle_time(trace));
  ASSERT_EQ(idle.size(), 1U);
  EXPECT_EQ(idle[0].notes.front().find("Busy 2.000 ms, idle"), 0U) << idle[0].notes.front();
}

}  // namespace
}  // namespace hone::report
