// One line an event, as many cells as columns, and nothing that a reader of CSV would stumble over.
#include "report/export/event_csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "support/trace_builder.hpp"

namespace hone::report {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> lines(const support::Trace& trace,
                               void (*write)(const support::Trace&, const LineSink&)) {
  std::vector<std::string> lines;
  write(trace, [&](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

support::TraceBuilder small_trace() {
  support::TraceBuilder builder;
  builder.op("aten::mm", 1000, 9000);
  builder.api("cudaLaunchKernel", 1100, 1200, 5).result = 2;
  builder.kernel("gemm<float, 2>", 2000, 2500, 5).context = 1;
  builder.launch() = {{4, 2, 1}, {128, 1, 1}, {}, 40, 16, 32};
  builder.kernel("unknown", 2600, 2700);
  support::Transfer& copy = builder.copy(support::CopyDirection::kHostToDevice, 4000, 3000, 5000);
  copy.source = support::MemoryKind::kPinned;
  copy.destination = support::MemoryKind::kDevice;
  builder.set(64, 6000, 6000);
  builder.build();
  return builder;
}

TEST(EventCsv, ListsWhatTheGpuDid) {
  const std::vector<std::string> found = lines(small_trace().trace, gpu_trace_csv);
  ASSERT_EQ(found.size(), 6U);
  EXPECT_EQ(found[2], "1000,500,4,2,1,128,1,1,40,16,32,,,,,0,1,7,\"gemm<float, 2>\",5");
  EXPECT_EQ(found[3], "1600,100,,,,,,,,,,,,,,0,,7,unknown,");
  EXPECT_EQ(found[4], "2000,2000,,,,,,,,,,4000,2.000000,Pinned,Device,0,,7,memory,");
  EXPECT_EQ(found[5], "5000,0,,,,,,,,,,64,,,,0,,7,memory,");
  const auto cells = std::count(found[0].begin(), found[0].end(), ',');
  EXPECT_EQ(cells, 19);
  for (const size_t plain : {1, 3, 4, 5})
    EXPECT_EQ(std::count(found[plain].begin(), found[plain].end(), ','), cells);
}

TEST(EventCsv, ListsCalls) {
  EXPECT_THAT(lines(small_trace().trace, api_trace_csv),
              ElementsAre("Start,Duration,Process,Thread,Name,Result,Correlation_ID", "ns,ns,,,,,",
                          "100,100,1,1,cudaLaunchKernel,2,5"));
}

TEST(EventCsv, HasColumnsWithoutEvents) {
  EXPECT_EQ(lines({}, gpu_trace_csv).size(), 2U);
  EXPECT_EQ(lines({}, api_trace_csv).size(), 2U);
}

}  // namespace
}  // namespace hone::report
